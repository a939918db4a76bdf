/**
 * A mark by which a model sets thoughts and calls apart in the text of an answer. Marks are found in any case of
 * letters. Most of the marks are known to the parsers of Ollama (`model/parsers` of ollama/ollama).
 */
export type Mark =
  /** Begins a thought. `sure`: a token of the model, which no prose has, so that it counts anywhere in a line. */
  | { readonly kind: 'open'; readonly text: string; readonly closes: readonly string[]; readonly sure: boolean }
  /** Ends a thought whose beginning was not marked. */
  | { readonly kind: 'close'; readonly text: string }
  /** Begins calls. `bare`: the first part of a tag, behind which its name follows. */
  | { readonly kind: 'call'; readonly text: string; readonly bare: boolean }
  /** Begins the header of a message of gpt-oss, which ends with `<|message|>`. */
  | { readonly kind: 'header'; readonly text: string }
  /** Says nothing: it stands around answers and calls. */
  | { readonly kind: 'dropped'; readonly text: string }

type Opening = Extract<Mark, { readonly kind: 'open' }>

/** A mark that was found, as the model wrote it. */
export interface FoundMark {
  readonly mark: Mark
  readonly at: number
  readonly length: number
}

const TAGS = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'seed:think']

const OPENINGS: readonly Opening[] = [
  ...TAGS.map((tag) => opening(`<${tag}>`, `</${tag}>`)),
  opening('[THINK]', '[/THINK]'),
  opening('◁think▷', '◁/think▷'),
  opening('<|begin_of_thought|>', '<|end_of_thought|>', true),
  opening('<|START_THINKING|>', '<|END_THINKING|>', true),
  opening('<|channel>thought', '<channel|>', true),
]

/** Every closing mark that some model leaves without its opening one. */
const CLOSES: readonly string[] = OPENINGS.flatMap(({ closes }) => closes)

/** Thoughts of gpt-oss: whatever message follows ends them, and its header is read on. */
export const ANALYSIS: Opening = {
  ...{ kind: 'open', text: '<|channel|>analysis', sure: true },
  closes: ['<|end|>', '<|return|>', '<|call|>', '<|start|>', '<|channel|>'],
}

/** The same where a server has removed the tokens and left their words: `analysisWe need …assistantfinalHello.` */
export const STRIPPED: Opening = { kind: 'open', text: 'analysis', closes: ['assistantfinal'], sure: true }

/** A thought that is taken for one because its model leaves the opening mark out. */
export const ASSUMED: Opening = { kind: 'open', text: '', closes: CLOSES, sure: false }

export const MESSAGE = '<|message|>'

const CALLS = [
  ...['<tool_call>', '<tool_calls>', '<function_call>', '<function_calls>', '<functioncall>', '<tools>'],
  ...['<minimax:tool_call>', '<atem:function_calls>', '<function_calls>', '<start_function_call>'],
  ...['[TOOL_CALLS]', '<|python_tag|>', '<|tool_call|>', '<|tool_calls|>', '<|tool_call>', '<|tool_call_start|>'],
  ...['<|tool_calls_section_begin|>', '<|tool_call_begin|>', '<|START_ACTION|>', '<|action_start|>'],
  ...['<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>', '<|tool▁calls▁begin|>', '<|tool▁call▁begin|>'],
]

const BARE_CALLS = [
  ...['<function=', '<function name=', '<invoke name=', '<atem:invoke name=', '<invoke name='],
  ...['<｜DSML｜', '<｜｜DSML｜｜', '<‖DSML‖', '<|DSML|', ']<]minimax[>['],
]

const DROPPED = [
  ...['</tool_call>', '</tool_calls>', '</function_calls>', '</minimax:tool_call>', '<tool_call|>'],
  ...['<|tool_call_end|>', '<|tool_calls_section_end|>', '<｜tool▁calls▁end｜>', '<｜tool▁call▁end｜>'],
  ...['<|end|>', '<|return|>', '<|call|>', '<|begin_of_solution|>', '<|end_of_solution|>'],
  ...['<|START_RESPONSE|>', '<|END_RESPONSE|>', '<|START_TEXT|>', '<|END_TEXT|>', '<|END_ACTION|>'],
]

const MARKS: readonly Mark[] = [
  ...OPENINGS,
  ...CLOSES.map((text) => ({ kind: 'close' as const, text })),
  ...CALLS.map((text) => ({ kind: 'call' as const, text, bare: false })),
  ...BARE_CALLS.map((text) => ({ kind: 'call' as const, text, bare: true })),
  ...['<|start|>', '<|channel|>'].map((text) => ({ kind: 'header' as const, text })),
  ...DROPPED.map((text) => ({ kind: 'dropped' as const, text })),
]

function opening(text: string, close: string, sure = false): Opening {
  return { kind: 'open', text, closes: [close], sure }
}

/** Texts to look for, in any case of letters. */
interface Finder {
  readonly all: ReadonlyMap<string, Mark>
  readonly pattern: RegExp
  /** The characters that one begins with. */
  readonly first: RegExp
  readonly longest: number
}

function finderOf(marks: readonly Mark[]): Finder {
  const texts = marks.map(({ text }) => text.toLowerCase()).sort((a, b) => b.length - a.length)
  const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return {
    all: new Map(marks.map((mark) => [mark.text.toLowerCase(), mark])),
    pattern: new RegExp(texts.map(escaped).join('|'), 'gi'),
    first: new RegExp(`[${[...new Set(texts.map((text) => escaped(text.charAt(0))))].join('')}]`, 'gi'),
    longest: texts[0]?.length ?? 0,
  }
}

const ANY = finderOf(MARKS)
const CLOSERS = new Map(
  [...OPENINGS, ANALYSIS, STRIPPED, ASSUMED].map((mark) => [
    mark.text,
    finderOf(mark.closes.map((text) => ({ kind: 'close', text }))),
  ]),
)

/** Characters of the longest mark. */
export const LONGEST_MARK = ANY.longest

/** Returns the first mark of a text; of the marks that end a thought where its opening is given. */
export function findMark(text: string, thought?: Opening): FoundMark | undefined {
  const { pattern, all } = finder(thought)
  pattern.lastIndex = 0
  const found = pattern.exec(text)
  const mark = found === null ? undefined : all.get(found[0].toLowerCase())
  return found === null || mark === undefined ? undefined : { mark, at: found.index, length: found[0].length }
}

/** Returns the length of the end of a text that may be the beginning of a mark. */
export function beginningLength(text: string, thought?: Opening): number {
  const { first, all, longest } = finder(thought)
  const end = text.slice(-(longest - 1)).toLowerCase()
  first.lastIndex = 0
  for (let found = first.exec(end); found !== null; found = first.exec(end)) {
    const begun = end.slice(found.index)
    for (const mark of all.keys()) if (mark.startsWith(begun)) return begun.length
  }
  return 0
}

function finder(thought: Opening | undefined): Finder {
  return (thought === undefined ? undefined : CLOSERS.get(thought.text)) ?? ANY
}
