//! Proof-number search: whether the side to move can force mate within a number of moves. It grows its tree where a
//! proof or a disproof is nearest, so that it follows long forced lines, checks with few replies above all, that a
//! depth-first search sees only late. It prunes no move, so every proof is sound.
//! See <https://www.chessprogramming.org/Proof-Number_Search>.

use arrayvec::ArrayVec;

use super::value::MAX_PLY;
use super::worker::PvLine;
use crate::chess::{Checks, Move, Position};

/// Infinity: the proof number of a disproved node, and the disproof number of a proved one.
const NEVER: u32 = u32::MAX;

/// A position of the tree. At even plies the attacker is to move, at odd ones the defender.
struct Node {
    parent: u32,
    /// The children stand together, from here.
    first: u32,
    children: u8,
    /// The move that leads here; none at the root.
    mv: Option<Move>,
    /// The least number of leaves that must be proved to prove the mate; 0 if it is proved.
    proof: u32,
    /// The least number of leaves that must be disproved to disprove the mate; 0 if it is disproved.
    disproof: u32,
}

/// Returns true if the attacker is to move so many plies from the root.
fn is_attack(ply: usize) -> bool {
    ply.is_multiple_of(2)
}

impl Node {
    const PROVED: (u32, u32) = (0, NEVER);
    const DISPROVED: (u32, u32) = (NEVER, 0);

    fn is_proved(&self) -> bool {
        self.proof == 0
    }
}

/// Result of a proof search.
pub(super) enum MateAnswer {
    /// There is one.
    Yes(Proof),
    /// There is none.
    No,
    /// The tree has grown too large.
    Unknown,
}

/// A forced mate with the defender's every reply.
pub(super) struct Proof {
    nodes: Vec<Node>,
}

/// An entry of a proof for one of its positions.
pub(super) struct ProofEntry {
    /// Plies from the root.
    pub(super) ply: usize,
    /// Plies to the mate, at most.
    pub(super) length: usize,
    /// The best move: none if the defender is mated.
    pub(super) mv: Option<Move>,
}

/// Looks for a mate in at most `moves`, in a tree of at most `capacity` positions. It calls `visit` for every position
/// that is looked at, and may end the search.
///
/// # Errors
/// If `visit` ends the search, with its error.
pub(super) fn prove_mate<Stop>(
    position: &Position,
    moves: usize,
    capacity: usize,
    visit: &mut impl FnMut() -> Result<(), Stop>,
) -> Result<MateAnswer, Stop> {
    let plies = 2 * moves.clamp(1, MAX_PLY / 2) - 1;
    let mut position = position.clone();
    let mut tree = Tree { nodes: vec![Node { parent: 0, first: 0, children: 0, mv: None, proof: 1, disproof: 1 }] };
    while tree.nodes[0].proof != 0 && tree.nodes[0].disproof != 0 && tree.nodes.len() < capacity {
        tree.grow(&mut position, plies, visit)?;
    }
    let root = &tree.nodes[0];
    Ok(match (root.proof, root.disproof) {
        (0, _) => MateAnswer::Yes(Proof { nodes: tree.nodes }),
        (_, 0) => MateAnswer::No,
        _ => MateAnswer::Unknown,
    })
}

struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Expands the most-proving leaf and updates its ancestors.
    fn grow<Stop>(
        &mut self,
        position: &mut Position,
        plies: usize,
        visit: &mut impl FnMut() -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut path = ArrayVec::<_, MAX_PLY>::new();
        let mut index = 0;
        while let Some(child) = self.most_promising(index, path.len()) {
            index = child;
            if let Some(mv) = self.nodes[index].mv {
                path.push((mv, position.make(mv)));
            }
        }
        let left = plies - path.len();
        let (proof, disproof) = if is_attack(path.len()) {
            self.expand_attack(index, position, left, visit)?
        } else {
            self.expand_defence(index, position, left, visit)?
        };
        (self.nodes[index].proof, self.nodes[index].disproof) = (proof, disproof);
        while let Some((mv, undo)) = path.pop() {
            position.unmake(mv, undo);
            index = self.nodes[index].parent as usize;
            (self.nodes[index].proof, self.nodes[index].disproof) = self.numbers(index, path.len());
        }
        Ok(())
    }

    fn children(&self, index: usize) -> &[Node] {
        let node = &self.nodes[index];
        &self.nodes[node.first as usize..][..usize::from(node.children)]
    }

    /// The child that the numbers of a node come from; none at a leaf.
    fn most_promising(&self, index: usize, ply: usize) -> Option<usize> {
        let node = &self.nodes[index];
        let is_the_one = |child: &Node| {
            if is_attack(ply) { child.proof == node.proof } else { child.disproof == node.disproof }
        };
        self.children(index).iter().position(is_the_one).map(|offset| node.first as usize + offset)
    }

    /// Proof and disproof number of a node with children: one move is enough for the attacker, the defender has to be
    /// beaten whatever is played.
    fn numbers(&self, index: usize, ply: usize) -> (u32, u32) {
        let children = self.children(index).iter();
        if is_attack(ply) {
            children.fold((NEVER, 0), |(proof, disproof), child| {
                (proof.min(child.proof), u32::saturating_add(disproof, child.disproof))
            })
        } else {
            children.fold((0, NEVER), |(proof, disproof), child| {
                (u32::saturating_add(proof, child.proof), disproof.min(child.disproof))
            })
        }
    }

    fn add(&mut self, parent: usize, mv: Move, (proof, disproof): (u32, u32)) {
        if self.nodes[parent].children == 0 {
            self.nodes[parent].first = self.nodes.len() as u32;
        }
        self.nodes[parent].children += 1;
        self.nodes.push(Node { parent: parent as u32, first: 0, children: 0, mv: Some(mv), proof, disproof });
    }

    /// Forgets the children of a node that was just expanded.
    fn drop_children(&mut self, index: usize) {
        let count = usize::from(self.nodes[index].children);
        self.nodes.truncate(self.nodes.len() - count);
        self.nodes[index].children = 0;
    }

    /// Tries the attacker's moves with `left` plies to go; the numbers of the node.
    fn expand_attack<Stop>(
        &mut self,
        index: usize,
        position: &mut Position,
        left: usize,
        visit: &mut impl FnMut() -> Result<(), Stop>,
    ) -> Result<(u32, u32), Stop> {
        if left == 1 {
            visit()?;
            return Ok(if mating_move(position).is_some() { Node::PROVED } else { Node::DISPROVED });
        }
        for mv in position.legal_moves() {
            visit()?;
            let undo = position.make(mv);
            let (replies, is_check) = (position.count_legal_moves(), position.is_check());
            position.unmake(mv, undo);
            if replies > 0 {
                self.add(index, mv, (replies, 1));
            } else if is_check {
                self.drop_children(index);
                self.add(index, mv, Node::PROVED);
                break;
            }
        }
        Ok(self.numbers(index, 0))
    }

    /// Tries the defender's replies with `left` plies to go; the numbers of the node.
    fn expand_defence<Stop>(
        &mut self,
        index: usize,
        position: &mut Position,
        left: usize,
        visit: &mut impl FnMut() -> Result<(), Stop>,
    ) -> Result<(u32, u32), Stop> {
        for mv in position.legal_moves() {
            visit()?;
            let mut numbers = (1, 1);
            if left == 2 {
                let undo = position.make(mv);
                let is_proved = mating_move(position).is_some();
                position.unmake(mv, undo);
                if !is_proved {
                    self.drop_children(index);
                    return Ok(Node::DISPROVED);
                }
                numbers = Node::PROVED;
            }
            self.add(index, mv, numbers);
        }
        Ok(self.numbers(index, 1))
    }
}

/// A move that mates at once.
fn mating_move(position: &mut Position) -> Option<Move> {
    let checks = Checks::of(position);
    position.legal_moves().into_iter().find(|&mv| {
        checks.are_given_by(position, mv) && {
            let undo = position.make(mv);
            let is_mate = !position.has_legal_move();
            position.unmake(mv, undo);
            is_mate
        }
    })
}

impl Proof {
    fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let node = &self.nodes[index];
        let first = node.first as usize;
        (first..first + usize::from(node.children)).filter(|&child| self.nodes[child].is_proved())
    }

    /// Plies to the mate, at most, from a proved position.
    fn length(&self, index: usize, ply: usize) -> usize {
        let lengths = self.children(index).map(|child| 1 + self.length(child, ply + 1));
        // A leaf of the attacker's mates with its next move, one of the defender's is mated.
        if is_attack(ply) { lengths.min().unwrap_or(1) } else { lengths.max().unwrap_or(0) }
    }

    /// The attacker's shortest way, or the defender's longest.
    fn best(&self, index: usize, ply: usize) -> Option<usize> {
        let length = |&child: &usize| self.length(child, ply + 1);
        if is_attack(ply) { self.children(index).min_by_key(length) } else { self.children(index).max_by_key(length) }
    }

    /// The attacker's best play against the longest defence, to the mate.
    pub(super) fn line(&self, root: &Position) -> PvLine {
        let mut position = root.clone();
        let mut line = PvLine::new();
        let mut index = 0;
        loop {
            let next = self.best(index, line.len());
            let known = next.and_then(|next| self.nodes[next].mv);
            let Some(mv) = known.or_else(|| mating_move(&mut position)) else { return line };
            line.push(mv);
            position.play(mv);
            index = next.unwrap_or(index);
        }
    }

    /// Tells of every position that the attacker's best play can lead to, the root first.
    pub(super) fn for_each(&self, root: &Position, visit: &mut impl FnMut(&Position, &ProofEntry)) {
        self.visit_from(0, 0, &mut root.clone(), visit);
    }

    fn visit_from(
        &self,
        index: usize,
        ply: usize,
        position: &mut Position,
        visit: &mut impl FnMut(&Position, &ProofEntry),
    ) {
        let best = self.best(index, ply);
        let known = best.and_then(|child| self.nodes[child].mv);
        let mv = known.or_else(|| mating_move(position));
        visit(position, &ProofEntry { ply, length: self.length(index, ply), mv });
        for child in self.children(index).filter(|&child| !is_attack(ply) || Some(child) == best) {
            let Some(mv) = self.nodes[child].mv else { continue };
            let undo = position.make(mv);
            self.visit_from(child, ply + 1, position, visit);
            position.unmake(mv, undo);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::random::Random;

    fn prove(position: &Position, moves: usize) -> MateAnswer {
        prove_mate::<Infallible>(position, moves, 1_000_000, &mut || Ok(())).unwrap()
    }

    /// Returns true if the side to move mates within so many moves, by trying everything.
    fn mates(position: &Position, moves: usize) -> bool {
        moves > 0
            && position.legal_moves().iter().any(|&mv| {
                let after = position.after(mv);
                let replies = after.legal_moves();
                if replies.is_empty() {
                    after.is_check()
                } else {
                    replies.iter().all(|&mv| mates(&after.after(mv), moves - 1))
                }
            })
    }

    #[test]
    fn answers_are_those_of_trying_everything() {
        let mut random = Random::seeded(7);
        let (mut yes, mut no) = (0, 0);
        for fen in [
            "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",
            "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1",
            "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
            "k7/P7/8/1K6/8/8/7p/8 w - - 0 1",
            "4k3/R7/8/8/8/8/1q6/R3K3 w - - 0 1",
        ] {
            for _ in 0..30 {
                let mut position = Position::from_fen(fen).unwrap();
                for _ in 0..random.below(7) {
                    let moves = position.legal_moves();
                    if moves.is_empty() {
                        break;
                    }
                    position.play(moves[random.below(moves.len() as u64) as usize]);
                }
                if position.count_legal_moves() > 24 {
                    continue;
                }
                for moves in 1..=2 {
                    let is_yes = match prove(&position, moves) {
                        MateAnswer::Yes(_) => true,
                        MateAnswer::No => false,
                        MateAnswer::Unknown => panic!("{}", position.to_fen()),
                    };
                    assert_eq!(is_yes, mates(&position, moves), "{} in {moves}", position.to_fen());
                    *(if is_yes { &mut yes } else { &mut no }) += 1;
                }
            }
        }
        assert!(yes > 20 && no > 20, "{yes} {no}");
    }

    #[test]
    fn every_position_of_a_proof_is_won_as_fast_as_it_says() {
        for (fen, moves) in [
            ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
            ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 3),
        ] {
            let root = Position::from_fen(fen).unwrap();
            assert!(matches!(prove(&root, moves - 1), MateAnswer::No));
            let MateAnswer::Yes(proof) = prove(&root, moves) else { panic!("{fen}") };
            let mut visited = 0;
            proof.for_each(&root, &mut |position, solved| {
                visited += 1;
                let fen = position.to_fen();
                if is_attack(solved.ply) {
                    assert!(mates(position, solved.length.div_ceil(2)), "{fen}");
                    assert!(position.is_legal(solved.mv.expect("a way to the mate")), "{fen}");
                } else {
                    assert!(
                        position.legal_moves().iter().all(|&mv| mates(&position.after(mv), solved.length / 2)),
                        "{fen}"
                    );
                }
            });
            assert!(visited > moves);
            let line = proof.line(&root);
            assert_eq!(line.len(), 2 * moves - 1);
            let end = line.iter().fold(root.clone(), |position, &mv| position.after(mv));
            assert!(end.is_check() && !end.has_legal_move(), "{fen}");
        }
    }

    #[test]
    fn a_tree_that_grows_too_large_settles_nothing() {
        let start = Position::start();
        let answer = prove_mate::<Infallible>(&start, 4, 500, &mut || Ok(())).unwrap();
        assert!(matches!(answer, MateAnswer::Unknown));
        let stopped = prove_mate::<&str>(&start, 4, 500, &mut || Err("stopped"));
        assert!(matches!(stopped, Err("stopped")));
    }
}
