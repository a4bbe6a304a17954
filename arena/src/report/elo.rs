//! Ratings from the results of games, as text and as JSON.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;
use std::str::FromStr;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::json::key;
use super::table::{aligned, number, short};
use crate::pgn_results::{LeftOut, PgnResults};
use crate::stats::{Meeting, Origin, Rating, comparable_groups, ratings_from};

/// The largest number of encounters that a table shows.
const MAX_ENCOUNTERS: usize = 100;
/// The assumptions behind ratings and their errors.
const MODEL: &str = "likeliest ratings of all games at once, each game by itself (trinomial): which were pairs from one \
                     opening, PGN does not tell";

/// A rating that is given, from which others are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// Whose.
    pub name: String,
    /// In Elo.
    pub elo: f64,
}

/// Why a rating cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnchorError {
    /// A text that is none.
    #[error("expected NAME=ELO, found `{0}`")]
    Malformed(String),
    /// There is no such player.
    #[error("no player is called {0}")]
    Unknown(String),
    /// The anchor won or lost every game, so that no rating can be counted from it.
    #[error("{0} cannot be compared with anybody: has won or lost everything")]
    Unrated(String),
}

impl FromStr for Anchor {
    type Err = AnchorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (name, elo) = text.rsplit_once('=')?;
            let elo = elo.trim().parse().ok().filter(|elo: &f64| elo.is_finite())?;
            (!name.is_empty()).then(|| Anchor { name: name.to_owned(), elo })
        };
        parse().ok_or_else(|| AnchorError::Malformed(text.to_owned()))
    }
}

/// The ratings of the players of PGN games.
#[derive(Clone, Debug)]
pub struct PgnRatings<'a> {
    pgn: &'a PgnResults,
    anchor: Option<&'a Anchor>,
    /// Whose ratings can be compared, largest group first.
    groups: Vec<Vec<usize>>,
    /// By player.
    ratings: Vec<Rating>,
}

impl<'a> PgnRatings<'a> {
    /// Rates the players. Groups that no results connect are rated separately: in the anchor's group
    /// from the anchor, in each other group with the mean 0.
    ///
    /// # Errors
    /// If the anchor is not in a group.
    pub fn new(pgn: &'a PgnResults, anchor: Option<&'a Anchor>) -> Result<Self, AnchorError> {
        let meetings = pgn.meetings();
        let groups = comparable_groups(pgn.players.len(), &meetings);
        let fixed = anchor.map(|anchor| find(pgn, &groups, anchor).map(|player| (player, anchor.elo))).transpose()?;
        let mut ratings = vec![Rating::default(); pgn.players.len()];
        for group in &groups {
            let fixed = fixed.filter(|(player, _)| group.contains(player));
            for (&player, rating) in group.iter().zip(rate(group, &meetings, fixed.map(|(player, _)| player))) {
                let elo = rating.elo.map(|elo| elo + fixed.map_or(0.0, |(_, elo)| elo));
                ratings[player] = Rating { elo, ..rating };
            }
        }
        Ok(PgnRatings { pgn, anchor, groups, ratings })
    }

    /// The rating of a player, by number.
    pub fn rating(&self, player: usize) -> Rating {
        self.ratings[player]
    }

    /// Players in the order of their ratings, group by group, those without a rating last.
    fn order(&self) -> Vec<(Option<usize>, usize)> {
        let results = self.pgn.results();
        let mut order = Vec::new();
        let mut is_rated = vec![false; self.pgn.players.len()];
        for (number, group) in self.groups.iter().enumerate() {
            let mut players = group.clone();
            players.sort_by(|&a, &b| {
                let elo = |player: usize| self.ratings[player].elo.unwrap_or(f64::MIN);
                elo(b).total_cmp(&elo(a))
            });
            players.iter().for_each(|&player| is_rated[player] = true);
            order.extend(players.into_iter().map(|player| (Some(number), player)));
        }
        let mut others: Vec<usize> = (0..is_rated.len()).filter(|&player| !is_rated[player]).collect();
        others.sort_by_key(|&player| Reverse(results[player].iter().sum::<u64>()));
        order.extend(others.into_iter().map(|player| (None, player)));
        order
    }

    /// Ratings, encounters and what was left out, in aligned columns.
    pub fn to_table(&self) -> String {
        let mut text = format!("{}\n{}\n", self.standings(), self.encounters());
        let games = self.pgn.games();
        let [losses, draws, wins] = self.pgn.white;
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "Games     {games}: White has won {wins}, lost {losses}, drawn {draws}; scored {:.1} %, drew {:.1} %",
            100.0 * score([losses, draws, wins]),
            100.0 * draws as f64 / games as f64
        );
        if let Some(left_out) = self.pgn.left_out_text() {
            let _ = writeln!(text, "Left out  {left_out}");
        }
        if self.groups.len() > 1 {
            let _ = writeln!(text, "Groups    {}; ratings of different groups cannot be compared", self.groups.len());
        }
        if self.unused_games() > 0 {
            let _ = writeln!(
                text,
                "Unused    {} games between players of different groups, or of none",
                self.unused_games()
            );
        }
        let _ = write!(text, "Model     {MODEL}");
        text
    }

    fn standings(&self) -> String {
        let results = self.pgn.results();
        let head = ["Elo", "± 95 %", "games", "won", "lost", "drawn", "score"].map(str::to_owned);
        let is_one = self.groups.len() == 1;
        let origin = if is_one { format!("rating ({})", self.origin(0)) } else { "rating".to_owned() };
        let mut rows = vec![std::iter::once(origin).chain(head).collect::<Vec<_>>()];
        let mut last = is_one.then_some(Some(0));
        for (group, player) in self.order() {
            if last != Some(group) {
                rows.push(vec![match group {
                    Some(number) => format!("group {} ({})", number + 1, self.origin(number)),
                    None => "without rating".to_owned(),
                }]);
                last = Some(group);
            }
            let (rating, [losses, draws, wins]) = (self.ratings[player], results[player]);
            let mut row = vec![short(&self.pgn.players[player]), number(rating.elo), number(rating.error)];
            row.extend([losses + draws + wins, wins, losses, draws].map(|count| count.to_string()));
            row.push(format!("{:.1} %", 100.0 * score([losses, draws, wins])));
            rows.push(row);
        }
        aligned(&rows)
    }

    /// From where the ratings of a group are counted.
    fn origin(&self, group: usize) -> String {
        let is_in = |anchor: &&Anchor| self.groups[group].iter().any(|&player| self.pgn.players[player] == anchor.name);
        let anchor = self.anchor.filter(is_in);
        anchor.map_or_else(|| "mean 0".to_owned(), |anchor| format!("{} {}", short(&anchor.name), anchor.elo))
    }

    /// Games between players of different groups.
    fn unused_games(&self) -> u64 {
        let mut group_of = vec![None; self.pgn.players.len()];
        for (number, group) in self.groups.iter().enumerate() {
            group.iter().for_each(|&player| group_of[player] = Some(number));
        }
        let is_unused = |[a, b]: [usize; 2]| group_of[a].is_none() || group_of[a] != group_of[b];
        let encounters = self.pgn.encounters.iter().filter(|(players, _)| is_unused(**players));
        encounters.flat_map(|(_, results)| results).sum()
    }

    /// The encounters with the most games.
    fn encounters(&self) -> String {
        let mut all: Vec<([usize; 2], [u64; 3])> =
            self.pgn.encounters.iter().map(|(&players, &results)| (players, results)).collect();
        all.sort_by_key(|(_, results)| Reverse(results.iter().sum::<u64>()));
        let head = ["encounter", "games", "won", "lost", "drawn", "score"].map(str::to_owned);
        let mut rows = vec![head.to_vec()];
        for ([a, b], results) in all.iter().take(MAX_ENCOUNTERS) {
            let [losses, draws, wins] = results;
            let mut row = vec![format!("{} - {}", short(&self.pgn.players[*a]), short(&self.pgn.players[*b]))];
            row.extend([losses + draws + wins, *wins, *losses, *draws].map(|count| count.to_string()));
            row.push(format!("{:.1} %", 100.0 * score(*results)));
            rows.push(row);
        }
        if let Some(more) = all.len().checked_sub(MAX_ENCOUNTERS).filter(|&more| more > 0) {
            rows.push(vec![format!("and {more} more, which --json has")]);
        }
        aligned(&rows)
    }

    /// The same as JSON. Unknown values are null; groups are numbered from 1, and 0 is no group.
    pub fn to_json(&self) -> Value {
        let results = self.pgn.results();
        let counts = |[losses, draws, wins]: [u64; 3]| json!({ "games": losses + draws + wins, "wins": wins, "draws": draws, "losses": losses, "score": score([losses, draws, wins]) });
        let with = |mut value: Value, more: Value| {
            if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
                value.extend(more);
            }
            value
        };
        let players: Vec<Value> = self
            .order()
            .into_iter()
            .map(|(group, player)| {
                let rating = self.ratings[player];
                let who = json!({
                    "name": self.pgn.players[player],
                    "group": group.map_or(0, |group| group + 1),
                    "rating": rating.elo,
                    "rating_error": rating.error,
                });
                with(who, counts(results[player]))
            })
            .collect();
        let encounters: Vec<Value> = self
            .pgn
            .encounters
            .iter()
            .map(|(players, &results)| {
                with(json!({ "players": players.map(|player| &self.pgn.players[player]) }), counts(results))
            })
            .collect();
        let left_out =
            LeftOut::ALL.into_iter().map(|reason| (key(reason.name()), self.pgn.left_out[reason.index()].into()));
        json!({
            "model": MODEL,
            "anchor": self.anchor.map(|anchor| json!({ "name": anchor.name, "rating": anchor.elo })),
            "games": self.pgn.games(),
            "left_out": Map::from_iter(left_out),
            "unused_games": self.unused_games(),
            "white": counts(self.pgn.white),
            "players": players,
            "encounters": encounters,
        })
    }
}

/// The number of the anchor.
fn find(pgn: &PgnResults, groups: &[Vec<usize>], anchor: &Anchor) -> Result<usize, AnchorError> {
    let player = pgn.player(&anchor.name).ok_or_else(|| AnchorError::Unknown(anchor.name.clone()))?;
    let is_rated = groups.iter().any(|group| group.contains(&player));
    if is_rated { Ok(player) } else { Err(AnchorError::Unrated(anchor.name.clone())) }
}

/// The ratings of a group from its internal games.
fn rate(group: &[usize], meetings: &[Meeting], origin: Option<usize>) -> Vec<Rating> {
    let places: HashMap<usize, usize> = group.iter().enumerate().map(|(place, &player)| (player, place)).collect();
    let within: Vec<Meeting> = meetings
        .iter()
        .filter_map(|meeting| {
            let [a, b] = meeting.players.map(|player| places.get(&player).copied());
            Some(Meeting { players: [a?, b?], counts: meeting.counts })
        })
        .collect();
    let origin = origin.and_then(|player| places.get(&player)).map_or(Origin::Mean, |&place| Origin::Engine(place));
    ratings_from(origin, group.len(), &within)
}

fn score([losses, draws, wins]: [u64; 3]) -> f64 {
    (wins as f64 + draws as f64 / 2.0) / (losses + draws + wins).max(1) as f64
}
