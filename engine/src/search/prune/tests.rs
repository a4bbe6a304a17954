//! Every condition flips exactly at its margin, and applies to its kind of node or move only.

use super::super::value::{MATE, MAX_PLY, mate_in, mated_in};
use super::*;
use crate::chess::{Move, MoveKind, Square};

/// A quiet node off the principal variation, for each test to change in one respect.
const NODE: NodeState = NodeState {
    depth: 3,
    alpha: 0,
    beta: 1,
    eval: 0,
    improving: false,
    is_check: false,
    is_pv: false,
    cut_node: false,
};

fn at_eval(eval: Value) -> NodeState {
    NodeState { eval, ..NODE }
}

fn entry(value: Value, depth: i32, bound: Bound) -> Entry {
    let mv = Move::new(Square::from_index(12), Square::from_index(28), MoveKind::Normal);
    Entry { mv: Some(mv), value, eval: None, depth, bound, is_pv: false }
}

/// The least of −2000 to 2000 for which a question is answered with yes, and yes from there on.
fn least(question: impl Fn(i32) -> bool) -> Option<i32> {
    let first = (-2000..=2000).find(|&i| question(i))?;
    assert!((first..=2000).all(question), "the answer changes more than once");
    Some(first)
}

#[test]
fn only_quiet_nodes_off_the_principal_variation_are_cut_short() {
    assert!(NODE.may_prune());
    assert!(!NodeState { is_pv: true, ..NODE }.may_prune());
    assert!(!NodeState { is_check: true, ..NODE }.may_prune());
    // Mates, and below them the results of tablebases.
    let nearest = MATE - 2 * MAX_PLY as Value - 1;
    for (beta, may) in [(nearest, false), (nearest - 1, true), (-nearest, false), (1 - nearest, true)] {
        assert_eq!(NodeState { beta, ..NODE }.may_prune(), may, "{beta}");
    }
}

#[test]
fn reverse_futility_begins_at_its_margin() {
    let params = SearchParams { rfp_margin: 70, rfp_max_depth: 6, rfp_improving: 150, ..SearchParams::default() };
    let first = |node: NodeState| least(|eval| NodeState { eval, ..node }.reverse_futility(&params));
    for depth in 1..=6 {
        assert_eq!(first(NodeState { depth, beta: 31, ..NODE }), Some(31 + 70 * depth));
    }
    // A rising evaluation takes a ply and a half off, and never turns the margin round.
    assert_eq!(first(NodeState { depth: 3, improving: true, ..NODE }), Some(1 + 105));
    assert_eq!(first(NodeState { depth: 1, improving: true, ..NODE }), Some(1));
    assert_eq!(first(NodeState { depth: 7, ..NODE }), None);
    // A mate is not cut down to a bound.
    assert!(!at_eval(mate_in(5)).reverse_futility(&params));
}

#[test]
fn razoring_ends_at_its_margin() {
    let params = SearchParams { razor_margin: 200, razor_max_depth: 2, ..SearchParams::default() };
    let hopeful = |node: NodeState| least(|eval| !NodeState { eval, ..node }.razoring(&params));
    assert_eq!(hopeful(NodeState { depth: 1, alpha: 50, ..NODE }), Some(50 - 200 + 1));
    assert_eq!(hopeful(NodeState { depth: 2, alpha: 50, ..NODE }), Some(50 - 400 + 1));
    assert_eq!(hopeful(NodeState { depth: 3, alpha: 50, ..NODE }), Some(-2000));
}

#[test]
fn passing_is_for_those_who_stand_well() {
    let params = SearchParams { nmp_min_depth: 3, ..SearchParams::default() };
    let first = |node: NodeState| least(|eval| NodeState { eval, ..node }.null_move(&params));
    assert_eq!(first(NodeState { beta: 40, ..NODE }), Some(40));
    assert_eq!(first(NodeState { depth: 2, ..NODE }), None);
    // A null move does not help against a mate.
    assert!(!NodeState { beta: mated_in(6), ..NODE }.null_move(&params));
}

#[test]
fn the_null_move_takes_more_where_more_is_left() {
    let params = SearchParams { nmp_base: 4, nmp_divisor: 3, nmp_eval_divisor: 100, ..SearchParams::default() };
    let plies = |depth: i32, eval: Value| NodeState { depth, eval, beta: 0, ..NODE }.null_move_reduction(&params);
    assert_eq!([plies(3, 0), plies(5, 0), plies(6, 0), plies(12, 0)], [5, 5, 6, 8]);
    assert_eq!([plies(3, 99), plies(3, 100), plies(3, 399), plies(3, 20_000)], [5, 6, 8, 8]);
}

#[test]
fn probcut_asks_more_than_beta_unless_the_table_knows_better() {
    let params = SearchParams {
        probcut_margin: 160,
        probcut_improving: 40,
        probcut_min_depth: 5,
        probcut_reduction: 4,
        ..SearchParams::default()
    };
    let node = NodeState { depth: 7, beta: 20, ..NODE };
    assert_eq!(node.probcut_beta(&params, None), Some(180));
    assert_eq!(NodeState { improving: true, ..node }.probcut_beta(&params, None), Some(140));
    assert_eq!(NodeState { depth: 5, ..node }.probcut_beta(&params, None), Some(180));
    assert_eq!(NodeState { depth: 4, ..node }.probcut_beta(&params, None), None);
    for (value, depth, is_tried) in [(179, 4, false), (180, 4, true), (179, 3, true)] {
        let known = entry(value, depth, Bound::Upper);
        assert_eq!(node.probcut_beta(&params, Some(&known)).is_some(), is_tried, "{value} at {depth}");
    }
}

#[test]
fn only_open_questions_without_a_move_are_made_cheaper() {
    let params = SearchParams { iir_min_depth: 4, ..SearchParams::default() };
    let node = NodeState { depth: 8, cut_node: true, ..NODE };
    assert!(node.iir(&params, None));
    assert!(NodeState { cut_node: false, is_pv: true, ..node }.iir(&params, None));
    assert!(!NodeState { cut_node: false, ..node }.iir(&params, None));
    assert!(NodeState { depth: 4, ..node }.iir(&params, None));
    assert!(!NodeState { depth: 3, ..node }.iir(&params, None));
    let known = entry(0, 4, Bound::Lower);
    assert!(!node.iir(&params, Some(&known)));
    assert!(node.iir(&params, Some(&Entry { depth: 3, ..known })));
    assert!(node.iir(&params, Some(&Entry { mv: None, ..known })));
}

#[test]
fn late_moves_are_those_beyond_the_count() {
    let params = SearchParams { lmp_base: 4, lmp_max_depth: 5, ..SearchParams::default() };
    let first = |node: NodeState| least(|tried| node.late_move_pruning(&params, tried));
    for depth in 1..=5 {
        let count = 4 + depth * depth;
        assert_eq!(first(NodeState { depth, improving: true, ..NODE }), Some(count));
        assert_eq!(first(NodeState { depth, ..NODE }), Some(count / 2));
    }
    assert_eq!(first(NodeState { depth: 6, ..NODE }), None);
}

#[test]
fn futility_ends_where_a_quiet_move_could_reach_alpha() {
    let params = SearchParams { fp_base: 100, fp_margin: 50, fp_max_depth: 4, ..SearchParams::default() };
    let alive = |depth: i32| least(|eval| !NodeState { alpha: 30, eval, ..NODE }.futility(&params, depth));
    for depth in 0..=4 {
        assert_eq!(alive(depth), Some(30 - 100 - 50 * depth + 1));
    }
    assert_eq!(alive(5), Some(-2000));
    assert!(!NodeState { is_check: true, eval: -2000, ..NODE }.futility(&params, 1));
}

#[test]
fn history_pruning_begins_below_its_margin() {
    let params = SearchParams { hp_margin: 600, hp_max_depth: 3, ..SearchParams::default() };
    let alive = |depth: i32| least(|history| !NODE.history_pruning(&params, depth, history));
    assert_eq!([alive(0), alive(1), alive(2), alive(3)], [Some(-600), Some(-600), Some(-1200), Some(-1800)]);
    assert_eq!(alive(4), Some(-2000));
}

#[test]
fn losing_captures_are_futile_below_alpha() {
    let params = SearchParams { fp_losing_margin: 100, fp_losing_max_depth: 4, ..SearchParams::default() };
    let node = NodeState { depth: 3, eval: -300, alpha: 0, ..NODE };
    assert_eq!(node.losing_captures_reach(&params), Some(0));
    assert_eq!(NodeState { eval: -299, ..node }.losing_captures_reach(&params), None);
    assert_eq!(NodeState { depth: 5, eval: -900, ..node }.losing_captures_reach(&params), None);
    assert_eq!(NodeState { is_check: true, ..node }.losing_captures_reach(&params), None);
    assert_eq!(NodeState { alpha: mate_in(5), ..node }.losing_captures_reach(&params), None);
}

#[test]
fn exchanges_may_lose_more_the_deeper_they_are_searched() {
    let params = SearchParams {
        see_quiet_margin: 60,
        see_noisy_margin: 90,
        see_quiet_max_depth: 5,
        see_noisy_max_depth: 6,
        ..SearchParams::default()
    };
    let node = NodeState { depth: 6, ..NODE };
    // Quiet moves by their reduced depth, others by the node's.
    assert_eq!(node.see_threshold(&params, true, 4), Some(-240));
    assert_eq!(node.see_threshold(&params, true, -2), Some(0));
    assert_eq!(node.see_threshold(&params, false, 4), Some(-540));
    assert_eq!(NodeState { depth: 7, ..node }.see_threshold(&params, true, 5), Some(-300));
    assert_eq!(node.see_threshold(&params, true, 6), None);
    assert_eq!(NodeState { depth: 7, ..node }.see_threshold(&params, false, 4), None);
}

#[test]
fn table_moves_are_tested_for_singularity_only_if_well_founded() {
    let params = SearchParams { se_min_depth: 7, se_margin: 32, ..SearchParams::default() };
    let node = NodeState { depth: 8, ..NODE };
    let known = entry(50, 5, Bound::Lower);
    assert_eq!(node.singular_beta(&params, Some(&known)), Some(50 - 16));
    assert_eq!(node.singular_beta(&params, Some(&Entry { bound: Bound::Exact, ..known })), Some(34));
    assert_eq!(node.singular_beta(&params, None), None);
    assert_eq!(NodeState { depth: 6, ..NODE }.singular_beta(&params, Some(&known)), None);
    for unfit in [
        Entry { depth: 4, ..known },
        Entry { bound: Bound::Upper, ..known },
        Entry { value: mate_in(9), ..known },
        Entry { value: mated_in(9), ..known },
    ] {
        assert_eq!(node.singular_beta(&params, Some(&unfit)), None, "{unfit:?}");
    }
}

#[test]
fn a_move_that_raised_alpha_makes_the_rest_shallower() {
    let params = SearchParams { alpha_max_depth: 11, ..SearchParams::default() };
    let should_stop = |depth: i32, value: Value| NodeState { depth, ..NODE }.alpha_raise_reduction(&params, value);
    assert_eq!([2, 3, 11, 12].map(|depth| should_stop(depth, 30)), [false, true, true, false]);
    assert!(!should_stop(5, mate_in(4)) && !should_stop(5, mated_in(4)));
}

#[test]
fn every_prospect_moves_the_reduction_its_own_way() {
    let mut params = SearchParams { lmr_quiet_history: 8000, lmr_noisy_history: 4000, ..SearchParams::default() };
    for param in SearchParams::LIST {
        let is_part = param.name.starts_with("lmr_") && param.min == 0 && param.max > 1024;
        assert!(!is_part || params.set(param.name, 1024));
    }
    let calm = MoveTraits {
        is_quiet: true,
        gives_check: false,
        is_refutation: false,
        table_move_is_noisy: false,
        was_pv: false,
        siblings_fail: false,
        history: 0,
    };
    let rising = NodeState { improving: true, ..NODE };
    let noisy = MoveTraits { is_quiet: false, ..calm };
    for (node, traits, plies) in [
        (rising, calm, 5),
        (rising, noisy, 5),
        (NODE, calm, 6),
        (NodeState { is_pv: true, ..rising }, calm, 4),
        (NodeState { cut_node: true, ..rising }, calm, 6),
        (rising, MoveTraits { gives_check: true, ..calm }, 4),
        (rising, MoveTraits { is_refutation: true, ..calm }, 4),
        (rising, MoveTraits { was_pv: true, ..calm }, 4),
        (rising, MoveTraits { table_move_is_noisy: true, ..calm }, 6),
        (rising, MoveTraits { table_move_is_noisy: true, ..noisy }, 5),
        (rising, MoveTraits { history: 8000, ..calm }, 4),
        (rising, MoveTraits { history: -16_000, ..calm }, 7),
        (rising, MoveTraits { history: 4000, ..noisy }, 4),
    ] {
        assert_eq!(reduction(&params, 5 * 1024, &node, &traits), plies, "{node:?} {traits:?}");
    }
}

#[test]
fn reductions_grow_with_depth_and_with_the_moves_tried() {
    let params = SearchParams { lmr_quiet_base: 512, lmr_quiet_divisor: 200, ..SearchParams::default() };
    let reductions = Reductions::new(&params);
    assert_eq!(reductions.base(true, 1, 30), 512);
    // ln 20 · ln 10 / 2 = 3.4490.
    assert_eq!(reductions.base(true, 20, 10), 512 + 3531);
    for is_quiet in [true, false] {
        let base = |depth, tried| reductions.base(is_quiet, depth, tried);
        assert!((2..200).all(|i| base(i, 9) <= base(i + 1, 9) && base(9, i) <= base(9, i + 1)));
        assert!(base(9, 9) > base(3, 9) && base(9, 9) > base(9, 3));
    }
    assert!(reductions.base(true, 9, 9) > reductions.base(false, 9, 9));
}
