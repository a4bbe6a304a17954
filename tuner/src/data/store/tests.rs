//! Tests that columns stay aligned, and games together.

use engine::chess::{Move, Position};

use super::super::label::Label;
use super::super::packed::{move_record, pack, record_of};
use super::*;

fn stored(labels: &[Label]) -> Dataset {
    let position = Position::start();
    let mut writer = StoreWriter::new(&Storage::default());
    for (record, label) in labels.iter().enumerate() {
        let mut packed = pack(&position, label, None, record as u32 % 1000);
        move_record(&mut packed, record as u64 / 1000 * 1000);
        writer.push(&StoredRow { packed, group: label.group }).expect("room in memory");
    }
    writer.finish(Vec::new(), BTreeMap::new()).expect("room in memory")
}

#[test]
fn labels_and_records_round_trip() {
    let label = |outcome, score, group| Label { outcome, score, group };
    let some = [
        label(ResultLabel::WIN, None, 1),
        label(ResultLabel::LOSS, Some(-34), 2),
        label(ResultLabel::DRAW, None, 2),
        label(ResultLabel::DRAW, Some(0), GAME - 1),
    ];
    let all = some.repeat(700);
    let store = stored(&all);
    assert_eq!((store.len(), store.grouping), (all.len(), Grouping::Positions));
    for (index, label) in all.iter().enumerate() {
        assert_eq!((store.label(index), record_of(&store.packed[index])), (*label, index as u32));
    }
    assert!(store.samples(3..5).all(|(position, _)| position == Position::start()));
}

#[test]
fn moves_stay_with_their_positions() {
    let check = |store: &Dataset, length: usize| {
        assert_eq!((store.len(), store.groups.len()), (length, length));
        for index in 0..length {
            let record = record_of(&store.packed[index]) % 1000;
            let expected = Move::from_bits(record as u16 + 1).filter(|_| record < 999);
            assert_eq!(store.best(index), expected, "{index}");
        }
    };
    let folder = tempfile::tempdir().expect("a folder");
    let small = Storage { memory: 200_000, folder: folder.path().to_owned() };
    for storage in [Storage::default(), small] {
        let mut writer = StoreWriter::new(&storage);
        for record in (0..20_000).filter(|record| record % 3 != 0) {
            let mv = Move::from_bits(record as u16 % 1000 + 1).filter(|_| record % 1000 < 999);
            let packed = pack(&Position::start(), &Label::new(ResultLabel::DRAW, GAME), mv, record);
            writer.push(&StoredRow { packed, group: GAME }).expect("room");
        }
        let store = writer.finish(Vec::new(), BTreeMap::new()).expect("room");
        assert_eq!(store.packed.is_mapped(), storage.memory == 200_000);
        check(&store, 13_333);
        store.release(0..store.len());
        check(&store, 13_333);
    }
}

/// Returns games of a length without names, with results in a fixed irregular order.
fn games(count: usize, length: usize) -> Vec<Label> {
    let game = |game: usize| ResultLabel::RESULTS[game * game % 7 % 3];
    let group = |place: usize| (place as u32).wrapping_mul(0x9E37_79B9) & !GAME;
    (0..count * length).map(|place| Label::new(game(place / length), group(place))).collect()
}

#[test]
fn games_without_names_stay_together() {
    for length in [5, 40] {
        let store = stored(&games(2000, length));
        assert_eq!(store.grouping, Grouping::ResultRuns);
        let groups = store.groups();
        assert!(groups.chunks(length).all(|game| game.iter().all(|group| *group == game[0])));
        let runs = groups[groups.len() - 1] as usize + 1;
        assert!((100..1000).contains(&runs), "{runs}");
    }
    // One position per game, or too few games, yield no runs.
    assert_eq!(stored(&games(2000, 1)).grouping, Grouping::Positions);
    assert_eq!(stored(&games(40, 30)).grouping, Grouping::Positions);
}

#[test]
fn games_with_names_stay_together() {
    let mut labels = games(2000, 5);
    labels.iter_mut().for_each(|label| label.group |= GAME);
    let store = stored(&labels);
    assert_eq!(store.grouping, Grouping::Games);
    assert!(store.groups().iter().zip(&labels).all(|(group, label)| *group == label.group));
    labels[7777].group &= !GAME;
    let store = stored(&labels);
    assert_eq!(store.grouping, Grouping::Mixed);
    assert!(store.groups().iter().zip(&labels).all(|(group, label)| *group == label.group));
}

#[test]
fn named_games_keep_their_groups_beside_nameless_ones() {
    let (mut named, nameless) = (games(2000, 5), games(2000, 40));
    named.iter_mut().for_each(|label| label.group |= GAME);
    let alone = stored(&nameless);
    let store = stored(&[&named[..], &nameless].concat());
    assert_eq!(store.grouping, Grouping::Mixed);
    let (first, second) = store.groups().split_at(named.len());
    assert!(first.iter().zip(&named).all(|(group, label)| *group == label.group));
    assert_eq!(second, alone.groups());
}
