/**
 * The ways in which a server, or a model on it, differs from what its protocol promises. A dialect is a list of them
 * that is known beforehand (`DIALECTS`); the others are learnt from refusals and answers, once a process
 * (`refusals.ts`). `parley status` says each in these words.
 */
const TRAITS = {
  'no-usage-option': 'does not know stream_options',
  'max-tokens': 'takes max_tokens and not max_completion_tokens',
  'max-completion-tokens': 'takes max_completion_tokens and not max_tokens',
  'no-temperature': 'takes no temperature',
  'no-effort': 'takes no reasoning_effort',
  'no-pictures': 'does not see pictures: it reads only that there are some',
  'no-tools': 'takes no tools: it answers without them',
  'no-system': 'takes no system prompt: it reads the prompt in front of the first message',
  'nine-character-ids': 'takes only nine characters as the id of a tool call',
  'thoughts-with-calls': 'refuses a tool call without the thoughts that led to it',
  'no-thoughts-back': 'does not take its own thoughts back',
  'signed-calls': 'refuses a tool call without the signature that it gave it',
  'own-fields-refused': 'does not take back fields that it put on its tool calls itself',
  thinks: 'thinks before it answers: its answers get more tokens',
  'thoughts-apart': 'sends its thoughts apart from its answer',
  'thinks-unopened': 'thinks without marking where a thought begins: nothing is shown before its answer is whole',
  'thinks-always': 'cannot be told not to think',
  'thinks-by-budget': 'takes a number of tokens for its thoughts and no level',
  'thinks-as-it-sees-fit': 'decides by itself how long it thinks',
  'cannot-think': 'takes no setting for thinking',
  'no-cache-marks': 'takes no cache marks',
} as const

export type Trait = keyof typeof TRAITS

/** The traits of one model, those of its dialect among them. */
export interface ModelTraits {
  has(trait: Trait): boolean
  /** Notes a trait. Returns false if it was known, so that nothing is tried for it again. */
  learn(trait: Trait): boolean
  /** The tokens that the model reads at once, where its server has named them. */
  window: number | undefined
  /** The most tokens of an answer, where its server has named them. */
  longestAnswer: number | undefined
}

/** The traits that a request has met. */
export interface MetTraits {
  /** Returns true unless the trait forbids it. A refusal of the request may then be for that. */
  may(trait: Trait): boolean
  /** The traits with which the request would be another one. */
  readonly avoidable: ReadonlySet<Trait>
}

export function meetTraits(traits: ModelTraits): MetTraits {
  const avoidable = new Set<Trait>()
  return {
    avoidable,
    may(trait) {
      if (traits.has(trait)) return false
      avoidable.add(trait)
      return true
    },
  }
}

/** The traits of one model, in words. */
export interface LearntTraits {
  readonly model: string
  /** One sentence a trait, without a subject. */
  readonly learnt: readonly string[]
}

/** The traits of all models since the start of the process. */
export interface TraitBook {
  /** `known`: the traits of the dialect. */
  of(model: string, known?: readonly Trait[]): ModelTraits
  /** Returns the models of which something was learnt. */
  learnt(): readonly LearntTraits[]
}

export function createTraitBook(): TraitBook {
  const books = new Map<string, { readonly traits: ModelTraits; readonly learnt: Set<Trait> }>()
  return {
    of(model, known = []) {
      const book = books.get(model) ?? { ...traitsOf(known) }
      books.set(model, book)
      return book.traits
    },
    learnt: () =>
      [...books].flatMap(([model, { traits, learnt }]) => {
        const words = [...[...learnt].map((trait) => TRAITS[trait]), ...numbersOf(traits)]
        return words.length === 0 ? [] : [{ model, learnt: words }]
      }),
  }
}

function traitsOf(known: readonly Trait[]): { readonly traits: ModelTraits; readonly learnt: Set<Trait> } {
  const learnt = new Set<Trait>()
  const has = (trait: Trait): boolean => known.includes(trait) || learnt.has(trait)
  const traits: ModelTraits = {
    has,
    learn(trait) {
      if (has(trait)) return false
      learnt.add(trait)
      return true
    },
    window: undefined,
    longestAnswer: undefined,
  }
  return { traits, learnt }
}

function numbersOf({ window, longestAnswer }: ModelTraits): readonly string[] {
  return [
    ...(window === undefined ? [] : [`reads ${window} tokens at once`]),
    ...(longestAnswer === undefined ? [] : [`writes ${longestAnswer} tokens at most`]),
  ]
}

/** A server that is known by its address, with what is known of it beforehand. MODEL-FACTS.md has the sources. */
interface Dialect {
  readonly name: string
  readonly hosts: RegExp
  readonly traits: readonly Trait[]
}

/**
 * Servers whose refusals are known. All others are asked in the form that most take, and what they refuse is learnt:
 * the table only spares them the refusals.
 */
const DIALECTS: readonly Dialect[] = [
  { name: 'openai', hosts: /(^|\.)api\.openai\.com$/, traits: ['max-completion-tokens', 'thoughts-apart'] },
  {
    name: 'azure',
    hosts: /\.(openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com$/,
    traits: ['thoughts-apart'],
  },
  { name: 'deepseek', hosts: /(^|\.)deepseek\.com$/, traits: ['thoughts-apart', 'thoughts-with-calls'] },
  { name: 'kimi', hosts: /(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/, traits: ['thoughts-apart', 'thoughts-with-calls'] },
  {
    name: 'gemini',
    hosts: /(^|\.)(generativelanguage|aiplatform)\.googleapis\.com$/,
    traits: ['thoughts-apart', 'signed-calls'],
  },
  { name: 'mistral', hosts: /(^|\.)mistral\.ai$/, traits: ['thoughts-apart', 'nine-character-ids'] },
]

/** Returns the traits of a server by its address; none for one that is not known. */
export function traitsOfServer(baseUrl: string): readonly Trait[] {
  const { hostname } = new URL(baseUrl)
  return DIALECTS.find(({ hosts }) => hosts.test(hostname))?.traits ?? []
}
