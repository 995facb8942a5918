-- The shop's warehouse. The nightly pipeline owns what is in these tables, day by day.

CREATE TABLE orders (
    day date NOT NULL,
    number integer NOT NULL,
    product text NOT NULL,
    pieces integer NOT NULL,
    amount_cents integer NOT NULL,
    PRIMARY KEY (day, number)
);

CREATE TABLE daily_report (
    day date PRIMARY KEY,
    orders integer NOT NULL,
    revenue_cents bigint NOT NULL
);
