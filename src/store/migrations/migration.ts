/** The differences between the engines when a table is made. */
export interface Dialect {
  /** Column type of a key the database counts up itself. */
  readonly identity: string
  /** Table suffix: rows live in the primary key's own tree. Pays for narrow rows that are only found by that key. */
  readonly clustered: string
  /** Returns the expression for where a text first has a part, from 1; 0 where it has none. */
  positionOf(this: void, part: string, text: string): string
  /**
   * Returns the statement that makes an index of the parts of words in texts, each by a number that its row has
   * elsewhere; the index has no text itself.
   */
  wordIndex(this: void, name: string): string
}

/** One step of the schema. Append-only: a released migration never changes. */
export interface Migration {
  /** 1, 2, 3, … without a gap. */
  readonly version: number
  readonly name: string
  statements(dialect: Dialect): readonly string[]
}
