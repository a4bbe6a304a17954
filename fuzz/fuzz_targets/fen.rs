//! FEN and EPD: what is read comes back as it was written.
#![no_main]

use engine::chess::Position;
use engine::chess::epd::Epd;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(position) = Position::from_fen(text) {
        assert_eq!(Position::from_fen(&position.to_fen()).as_ref(), Ok(&position));
        assert_eq!(Position::from_fen(&position.to_shredder_fen()).as_ref(), Ok(&position));
        assert_eq!(position.color_flipped().color_flipped(), position);
        for mv in position.legal_moves() {
            assert!(position.is_legal(mv));
            let next = position.after(mv);
            assert_eq!(Position::from_fen(&next.to_shredder_fen()).map(|read| read.key()), Ok(next.key()));
        }
    }
    let _ = Position::from_fen_prefix(text);
    if let Ok(epd) = Epd::parse(text) {
        assert_eq!(Epd::parse(&epd.to_string()).map(|again| again.operations).as_ref(), Ok(&epd.operations));
    }
});
