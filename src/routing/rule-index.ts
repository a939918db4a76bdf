/** The fields rules are found by. */
export type IndexField = 'chat' | 'person' | 'senderId' | 'topic' | 'space' | 'account' | 'channel'

export interface IndexKey {
  readonly field: IndexField
  readonly value: string
}

export type IndexFacts = Readonly<Partial<Record<IndexField | 'formerChat', string | undefined>>>

/**
 * Rules filed by their most selective field, so that a decision looks at the few that can match and not at all. `rank`
 * is the place of a rule in the configured list: the lowest one that matches wins, as in the list.
 */
export interface RuleIndex<Rule extends Ranked> {
  readonly drawers: readonly Drawer<Rule>[]
  /** Rules without a field to file them by. */
  readonly rest: readonly Rule[]
}

interface Drawer<Rule> {
  readonly field: IndexField
  readonly rules: ReadonlyMap<string, readonly Rule[]>
}

export interface Ranked {
  readonly rank: number
}

/** `keysOf` gives every key a rule can be found under; none files it under `rest`. `rules` are in order of rank. */
export function createRuleIndex<Rule extends Ranked>(
  rules: readonly Rule[],
  keysOf: (rule: Rule) => readonly IndexKey[],
): RuleIndex<Rule> {
  const drawers = new Map<IndexField, Map<string, Rule[]>>()
  const rest: Rule[] = []
  for (const rule of rules) {
    const keys = keysOf(rule)
    if (keys.length === 0) rest.push(rule)
    for (const { field, value } of keys) push(inDrawer(drawers, field), value, rule)
  }
  return { drawers: [...drawers].map(([field, filed]) => ({ field, rules: filed })), rest }
}

/** The first rule of the list that `accept`s, among those the facts can match. */
export function firstMatch<Rule extends Ranked>(
  index: RuleIndex<Rule>,
  facts: IndexFacts,
  accept: (rule: Rule) => boolean,
): Rule | undefined {
  let best = index.rest.find(accept)
  for (const { field, rules } of index.drawers) {
    best = better(best, filed(rules, facts[field])?.find(accept))
    if (field === 'chat') best = better(best, filed(rules, facts.formerChat)?.find(accept))
  }
  return best
}

function filed<Rule>(
  rules: ReadonlyMap<string, readonly Rule[]>,
  value: string | undefined,
): readonly Rule[] | undefined {
  return value === undefined ? undefined : rules.get(value)
}

function better<Rule extends Ranked>(best: Rule | undefined, found: Rule | undefined): Rule | undefined {
  return found && (best === undefined || found.rank < best.rank) ? found : best
}

function inDrawer<Rule>(drawers: Map<IndexField, Map<string, Rule[]>>, field: IndexField): Map<string, Rule[]> {
  const drawer = drawers.get(field) ?? new Map<string, Rule[]>()
  drawers.set(field, drawer)
  return drawer
}

/** Adds to the list under `key`. */
export function push<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}
