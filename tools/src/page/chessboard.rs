//! Boards with pieces, drawn without any font.

use engine::chess::{Color, Move, PieceType, Position, Square};
use maud::{Markup, PreEscaped, html};

/// Side of a square.
const SQUARE: usize = 45;

/// The outlines of the pieces in a square of [`SQUARE`], pawn to king.
const SHAPES: [&str; 6] = [
    "M22.5 8.5a5.5 5.5 0 0 0-3.7 9.6c-1.7.9-2.8 2.3-2.8 3.9h3.5c0 4.5-1.7 7.3-5.5 9.7-1.3.8-2 2-2 3.3 \
     v1.5h21v-1.5c0-1.3-.7-2.5-2-3.3-3.8-2.4-5.5-5.2-5.5-9.7h3.5 \
     c0-1.6-1.1-3-2.8-3.9A5.5 5.5 0 0 0 22.5 8.5z",
    "M13 36.5 \
     c0-7.5 6.5-9.5 7-14.5-2 .7-3.5 2.5-5.5 4-1.5 1.1-3 1.5-4.5.5-1.3-.9-1.5-2.5-.7-4 1.7-3 3.7-5 4.7-9 \
     l-.5-5 4 3C26 10.5 34.5 15.5 34.5 36.5z",
    "M22.5 6.5a2.5 2.5 0 0 0-1.5 4.5c-4.6 3.3-7.5 7.3-7.5 11 0 2.8 1.5 5 3.5 6.5l-1.2 3.5-4.3 1.5v3h22 \
     v-3l-4.3-1.5-1.2-3.5c2-1.5 3.5-3.7 3.5-6.5 0-3.7-2.9-7.7-7.5-11a2.5 2.5 0 0 0-1.5-4.5z",
    "M11.5 9v7l3.5 3v10.5l-3 3.5v3.5h21v-3.5l-3-3.5V19l3.5-3V9h-4.5v3.5h-4V9h-5v3.5h-4V9z",
    "M8.5 13a2.4 2.4 0 1 0-1.2-.3L13.5 28l-1 8.5h20l-1-8.5 6.2-15.3a2.4 2.4 0 1 0-1.2.3L29.5 22.5 28 12 \
     a2.4 2.4 0 1 0-2 0l-3.5 10L19 12a2.4 2.4 0 1 0-2 0l-1.5 10.5z",
    "M21 5v2.5h-2.5v3H21v3c-1.2.8-1.7 2.3-1.2 4.2C16.5 15 10 15.5 9.5 20.5 9.2 24 12 26.5 14 29l-1 7.5 \
     h19L31 29c2-2.5 4.8-5 4.5-8.5-.5-5-7-5.5-10.3-2.8.5-1.9 0-3.4-1.2-4.2v-3h2.5v-3H24V5z",
];

/// Lines within the outlines: the mouth of the bishop, the eye of the knight, the foot of the queen and the king.
const LINES: [&str; 6] = [
    "",
    "M17.5 15.5v1",
    "M22.5 16.5v8M18.5 20.5h8M16.5 28.5h12",
    "M15 19.5h15M15 29.5h15",
    "M14 31h17",
    "M14 31.5h17M22.5 18v11",
];

fn id(color: Color, piece: PieceType) -> String {
    format!("{}{}", color.choose("w", "b"), piece.letter())
}

/// The pieces, to be drawn wherever a board stands, and `more` definitions. They come once, before the boards.
pub fn shapes(more: &Markup) -> Markup {
    html! {
        svg class="shapes" role="img" aria-label="Shapes" width="0" height="0" {
            defs {
                (more)
                @for color in Color::ALL {
                    @for (piece, (shape, lines)) in PieceType::ALL.into_iter().zip(SHAPES.into_iter().zip(LINES)) {
                        g id=(id(color, piece)) class=(color.choose("white", "black")) {
                            path d=(shape) {}
                            @if !lines.is_empty() { path class="line" d=(lines) {} }
                        }
                    }
                }
            }
        }
    }
}

/// A position, White at the bottom, with the squares of the last move marked.
pub fn board(position: &Position, last: Option<Move>, described: &str) -> Markup {
    let side = 8 * SQUARE;
    let light: String = "M0 0".to_owned() + &PATTERN.repeat(4);
    html! {
        svg class="board" viewBox=(format!("0 0 {side} {side}")) role="img" aria-label=(described) {
            rect class="dark" width=(side) height=(side) {}
            path class="light" d=(PreEscaped(light)) {}
            @for square in last.iter().flat_map(|mv| [mv.from(), mv.to()]) {
                @let [x, y] = corner(square);
                rect class="last" x=(x) y=(y) width=(SQUARE) height=(SQUARE) {}
            }
            @for square in Square::all() {
                @if let Some(piece) = position.piece_on(square) {
                    @let [x, y] = corner(square);
                    use href=(format!("#{}", id(piece.color, piece.piece_type))) x=(x) y=(y) {}
                }
            }
        }
    }
}

/// The upper left corner of a square.
fn corner(square: Square) -> [usize; 2] {
    [SQUARE * square.file().index(), SQUARE * (7 - square.rank().index())]
}

/// Light squares of two rows from the left, and back to the left, two rows down.
const PATTERN: &str = "h45v45h-45zm90 0h45v45h-45zm90 0h45v45h-45zm90 0h45v45h-45zm-225 45\
                       h45v45h-45zm90 0h45v45h-45zm90 0h45v45h-45zm90 0h45v45h-45zm-315 45";
