# SPDX-License-Identifier: GPL-2.0
"""The table that SQLite is given by bench/lib/outside.py: orders of customers.

    table = Orders(mb, seed)        made() are its rows, to be put there
    table.row(key), of_customer(who), of_each()     what must come back

Invariant: a row is a function of seed and key alone, so each can be compared whole
without keeping it.
"""
import hashlib

# Bytes of a row's text, and what SQLite takes for a row with its share of the index.
NOTE, ROW = 480, 580
# Rows of a customer, on average.
EACH = 64

SCHEMA = """
PRAGMA temp_store = MEMORY;
PRAGMA journal_mode = OFF;
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER,
                     note BLOB);
"""
INSERT = "INSERT INTO orders VALUES (?, ?, ?, ?)"
INDEX = "CREATE INDEX by_customer ON orders (customer)"
ALL = "SELECT * FROM orders ORDER BY id"
BY_KEY = "SELECT * FROM orders WHERE id = ?"
BY_CUSTOMER = "SELECT count(*), total(amount) FROM orders WHERE customer = ?"
OF_EACH = ("SELECT customer, count(*), sum(amount) FROM orders NOT INDEXED "
           "GROUP BY customer ORDER BY customer")


class Orders:
    """A table that takes so many MiB; its first rows are spoilt, if any."""

    def __init__(self, mb, seed, damage=0):
        self.seed, self.damage = seed, damage
        self.rows = max(EACH, mb * 2 ** 20 // ROW)
        self.customers = self.rows // EACH
        self.count, self.sum = [0] * self.customers, [0] * self.customers

    def row(self, key):
        """The row with this key: incompressible, and no other one's."""
        note = hashlib.shake_128(b"%d order %d" % (self.seed, key)).digest(NOTE)
        return (key, int.from_bytes(note[:4], "big") % self.customers,
                int.from_bytes(note[4:6], "big"), note)

    def made(self):
        """All rows as they are put there."""
        for key in range(self.rows):
            row = self.row(key)
            self.count[row[1]] += 1
            self.sum[row[1]] += row[2]
            yield (*row[:3], row[3][::-1]) if key < self.damage else row

    def of_customer(self, who):
        """What BY_CUSTOMER must come to."""
        return self.count[who], self.sum[who]

    def of_each(self):
        """What OF_EACH must come to."""
        return [(who, count, self.sum[who])
                for who, count in enumerate(self.count) if count]
