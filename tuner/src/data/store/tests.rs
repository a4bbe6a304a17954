//! Tests that columns stay aligned, and games together.

use super::*;

fn stored(labels: &[Label]) -> (Store, Grouping) {
    let position = Position::start();
    let mut writer = StoreWriter::default();
    for (number, chunk) in labels.chunks(1000).enumerate() {
        let mut store = ChunkStore::default();
        chunk.iter().enumerate().for_each(|(record, label)| store.push(record as u32, &position, label));
        writer.append(&store, 1000 * number as u64).expect("room in memory");
    }
    writer.finish().expect("room in memory")
}

#[test]
fn labels_and_records_round_trip() {
    let label = |outcome, score, group| Label { outcome, score, group };
    let some = [
        label(ResultLabel::Win, None, 1),
        label(ResultLabel::Loss, Some(-34), 2),
        label(ResultLabel::Draw, None, 2),
        label(ResultLabel::Draw, Some(0), GAME - 1),
    ];
    let all = some.repeat(700);
    let (store, grouping) = stored(&all);
    assert_eq!((store.len(), grouping), (all.len(), Grouping::Positions));
    for (index, label) in all.iter().enumerate() {
        assert_eq!((store.label(index), store.record(index)), (*label, index as u32));
    }
    assert!(store.samples(3..5).all(|(position, _)| position == Position::start()));
}

/// Returns a chunk of positions with their index as record and in their move; the last has no move.
fn chunk_with_moves(size: u32) -> ChunkStore {
    let mut chunk = ChunkStore::default();
    for record in 0..size {
        chunk.push(record, &Position::start(), &Label::new(ResultLabel::Draw, GAME));
        chunk.push_move(Move::from_bits(record as u16 + 1).filter(|_| record + 1 < size));
    }
    chunk
}

#[test]
fn moves_stay_with_their_positions() {
    let check = |store: &Store, length: usize| {
        assert_eq!((store.len(), store.moves.len()), (length, length));
        for index in 0..length {
            let record = store.record(index) % 1000;
            let expected = Move::from_bits(record as u16 + 1).filter(|_| record < 999);
            assert_eq!(store.best(index), expected, "{index}");
        }
    };
    let folder = tempfile::tempdir().expect("a folder");
    let small = Storage { memory: 200_000, folder: folder.path().to_owned() };
    for storage in [Storage::default(), small] {
        let mut writer = StoreWriter::new(&storage);
        for number in 0..20 {
            let mut chunk = chunk_with_moves(1000);
            let is_kept: Vec<bool> = (0..1000).map(|record| record % 3 != number % 3).collect();
            chunk.retain(&is_kept);
            writer.append(&chunk, 1000 * number).expect("room");
        }
        let store = writer.finish().expect("room").0;
        assert_eq!(store.moves.is_mapped(), storage.memory == 200_000);
        check(&store, 13_333);
        store.release(0..store.len());
        check(&store, 13_333);
    }
    let position = Position::start();
    let (store, _) = stored(&[Label::new(ResultLabel::Draw, 0)]);
    assert!(store.best(0).is_none() && store.holds(0, &position));
    assert!(!store.holds(0, &position.color_flipped()));
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
        let (store, grouping) = stored(&games(2000, length));
        assert_eq!(grouping, Grouping::ResultRuns);
        let groups = store.groups();
        assert!(groups.chunks(length).all(|game| game.iter().all(|group| *group == game[0])));
        let runs = groups[groups.len() - 1] as usize + 1;
        assert!((100..1000).contains(&runs), "{runs}");
    }
    // One position per game, or too few games, yield no runs.
    assert_eq!(stored(&games(2000, 1)).1, Grouping::Positions);
    assert_eq!(stored(&games(40, 30)).1, Grouping::Positions);
}

#[test]
fn games_with_names_stay_together() {
    let mut labels = games(2000, 5);
    labels.iter_mut().for_each(|label| label.group |= GAME);
    let (store, grouping) = stored(&labels);
    assert_eq!(grouping, Grouping::Games);
    assert!(store.groups().iter().zip(&labels).all(|(group, label)| *group == label.group));
    labels[7777].group &= !GAME;
    let (store, grouping) = stored(&labels);
    assert_eq!(grouping, Grouping::Mixed);
    assert!(store.groups().iter().zip(&labels).all(|(group, label)| *group == label.group));
}

#[test]
fn named_games_keep_their_groups_beside_nameless_ones() {
    let (mut named, nameless) = (games(2000, 5), games(2000, 40));
    named.iter_mut().for_each(|label| label.group |= GAME);
    let alone = stored(&nameless).0;
    let (store, grouping) = stored(&[&named[..], &nameless].concat());
    assert_eq!(grouping, Grouping::Mixed);
    let (first, second) = store.groups().split_at(named.len());
    assert!(first.iter().zip(&named).all(|(group, label)| *group == label.group));
    assert_eq!(second, alone.groups());
}
