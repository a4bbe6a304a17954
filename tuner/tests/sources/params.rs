struct Pair {
    mg: i32,
    eg: i32,
}

struct Params {
    doubled: Pair,
    tempo: i32,
    mobility: [[Pair; 2]; 1],
}

static PARAMS: Params = Params {
    tempo: 12, // tempo: 9
    doubled: Pair { eg: -48, mg: -11 },
    mobility: [[Pair { mg: 1, eg: 2 }, Pair { mg: 3, eg: -4 }]],
};

fn main() {
    println!("PARAMS.doubled {} {}", PARAMS.doubled.mg, PARAMS.doubled.eg);
    println!("PARAMS.tempo {}", PARAMS.tempo);
    for (i, pair) in PARAMS.mobility[0].iter().enumerate() {
        println!("PARAMS.mobility[0][{i}] {} {}", pair.mg, pair.eg);
    }
}
