import { type Content, textContent, textOf } from '../core/content.ts'
import { cutText } from '../core/cut-text.ts'
import type { ModelMessage, ModelToolResult } from '../core/model.ts'
import type { EarlierMessages } from '../core/turn.ts'

/** The part of a request that results of tools may fill, as shares of the model's window. */
interface Thresholds {
  readonly trimAbove: number
  readonly clearAbove: number
}

const USUAL: Thresholds = { trimAbove: 0.3, clearAbove: 0.5 }
/** A request that was too long has these; results qualify from fewer characters on too. */
const LOWER: Thresholds & { readonly from: number } = { trimAbove: 0.15, clearAbove: 0.25, from: 4_000 }
/** The results of this many of the newest steps stay whole. */
const STEPS_KEPT = 3
/** Characters kept at each end of a result that is trimmed. */
const END = 1_500
/** A token is taken for four characters; a picture and any other file count as these. */
const CHARACTERS_A_TOKEN = 4
const PICTURE = 8_000
const FILE = 2_000
/** Results of this tool are instructions, which count until the turn ends. */
const NEVER_PRUNED = 'skill'

interface PruningLimits {
  /** Tokens the model reads at once; undefined: not known, so that nothing is pruned before the model complains. */
  readonly window: number | undefined
  /** Characters from which a result may be pruned. */
  readonly from: number
  /** The request without its messages: system prompt and tools, in characters. */
  readonly besides: number
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/** The place of a result among the messages. */
interface Place {
  readonly message: number
  readonly result: number
  /** Its length before anything was left out, in characters. */
  readonly size: number
}

/**
 * Returns the messages with large results of earlier steps of the turn shortened, oldest first, as far as needed:
 * above 30 % of the window to their first and last 1,500 characters (R26), above 50 % to a notice (R27). Small
 * results, those of skills and those of the three newest steps stay (R28). What is stored is not changed (R30).
 * Pure: a turn that continues after a crash is shown the same.
 */
export function pruneResults(messages: readonly ModelMessage[], limits: PruningLimits): readonly ModelMessage[] {
  const { window, from, besides } = limits
  if (window === undefined) return messages
  return prune(messages, { ...USUAL, room: window * CHARACTERS_A_TOKEN, from, besides })
}

interface Pruned extends Thresholds, Pick<PruningLimits, 'from' | 'besides'> {
  /** The characters that the model reads at once. */
  readonly room: number
}

function prune(
  messages: readonly ModelMessage[],
  { trimAbove, clearAbove, room, from, besides }: Pruned,
): readonly ModelMessage[] {
  const eligible = eligibleResults(messages, from)
  if (eligible.length === 0) return messages
  const pruning = { messages: [...messages], size: besides + sizeOf(messages) }
  shorten(pruning, { eligible, most: trimAbove * room, to: trimmed })
  shorten(pruning, { eligible, most: clearAbove * room, to: cleared })
  return pruning.messages
}

/** Returns the messages with every result that may be pruned replaced by a notice (R29). */
export function pruneAll(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const pruning = { messages: [...messages], size: 1 }
  shorten(pruning, { eligible: eligibleResults(messages, 0), most: Number.NEGATIVE_INFINITY, to: cleared })
  return pruning.messages
}

/** Returns the results that may be pruned, oldest first: those before the third-last message of the assistant. */
function eligibleResults(messages: readonly ModelMessage[], from: number): readonly Place[] {
  const steps = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []))
  const end = steps.at(-STEPS_KEPT) ?? 0
  return messages.slice(0, end).flatMap((message, index) => {
    if (message.role !== 'tool') return []
    const kept = callsBefore(messages, index)
    return message.results.flatMap(({ id, content }, result) => {
      const size = charactersIn(content)
      return kept.has(id) || size < Math.max(from, 1) ? [] : [{ message: index, result, size }]
    })
  })
}

/** Returns the ids of the calls in the step before a tool message whose results are never pruned. */
function callsBefore(messages: readonly ModelMessage[], index: number): ReadonlySet<string> {
  const step = messages[index - 1]
  const calls = step?.role === 'assistant' ? step.calls : []
  return new Set(calls.filter(({ name }) => name === NEVER_PRUNED).map(({ id }) => id))
}

interface Pruning {
  readonly messages: ModelMessage[]
  size: number
}

/** Replaces results, oldest first, until the request has at most `most` characters. */
function shorten(
  pruning: Pruning,
  { eligible, most, to }: { eligible: readonly Place[]; most: number; to: (content: Content, size: number) => Content },
): void {
  for (const { message, result, size } of eligible) {
    if (pruning.size <= most) return
    const old = pruning.messages[message]
    if (old?.role !== 'tool') continue
    const before = old.results[result]
    if (before === undefined) continue
    const content = to(before.content, size)
    const saved = charactersIn(before.content) - charactersIn(content)
    if (saved <= 0) continue
    pruning.size -= saved
    pruning.messages[message] = withResult(old, result, { ...before, content })
  }
}

function withResult({ results }: ToolMessage, at: number, result: ModelToolResult): ToolMessage {
  return { role: 'tool', results: results.map((one, index) => (index === at ? result : one)) }
}

function trimmed(content: Content): Content {
  const text = textOf(content)
  if (text.length <= 2 * END) return content
  const begin = cutText(text, END)
  const end = text.slice(-END).replace(/^[\uDC00-\uDFFF]/, '')
  const left = text.length - begin.length - end.length
  return textContent(`${begin}\n[${left} characters of this result are left out here to save room]\n${end}`)
}

function cleared(_: Content, size: number): Content {
  return textContent(`[this result of ${size} characters is left out here to save room]`)
}

/** Returns the length of a message; a picture and any other file count as so many characters. */
function charactersOf(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return charactersIn(message.content)
    case 'assistant':
      return message.calls.reduce((sum, { args }) => sum + lengthOf(args), message.text.length)
    case 'tool':
      return message.results.reduce((sum, { content }) => sum + charactersIn(content), 0)
  }
}

function lengthOf(args: unknown): number {
  return JSON.stringify(args)?.length ?? 0
}

function charactersIn(content: Content): number {
  return content.reduce((sum, part) => {
    if (part.type === 'text') return sum + part.text.length
    return sum + (part.type === 'image' ? PICTURE : FILE)
  }, 0)
}

function sizeOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + charactersOf(message), 0)
}

/** Characters of a request that no model is known to find too long. */
const SHORT = 16_000

/**
 * Returns true if most of a long request was left out. Where the server refuses one without words that anybody knows,
 * its length may be the reason.
 */
export function isMostlyLeftOut(whole: readonly ModelMessage[], shortened: readonly ModelMessage[]): boolean {
  const before = sizeOf(whole)
  return before > SHORT && sizeOf(shortened) < before / 2
}

/** The reruns of a request that was too long, in their order (R29). */
export const RERUNS = ['lower', 'least'] as const
export type Rerun = (typeof RERUNS)[number]

/** The most messages of earlier turns that stay. */
const KEPT: Readonly<Record<Rerun, number>> = { lower: 8, least: 0 }

interface Shortening {
  readonly rerun: Rerun
  /** The tokens of a prompt that the model takes; undefined: not known. */
  readonly room: number | undefined
}

/**
 * Returns the messages of a request that the model found too long, for a rerun (R29). `lower`: with pruning from lower
 * thresholds, the summary, and the newest four of the earlier turns, fewer where there is no room for them. `least`:
 * with no result that may be pruned, and of the earlier turns the summary alone. Returns undefined where that leaves
 * out nothing of `tried`, the request that was refused last.
 */
export function shortenRequest(
  messages: readonly ModelMessage[],
  { messages: earlier, summary }: Pick<EarlierMessages, 'messages' | 'summary'>,
  { rerun, room, tried }: Shortening & { readonly tried: readonly ModelMessage[] },
): readonly ModelMessage[] | undefined {
  const begin = Math.min(summary ? 2 : 0, earlier)
  const older = earlier - begin
  const pruned = rerun === 'least' ? pruneAll(messages) : pruneLower(messages, room)
  let size = sizeOf(pruned.slice(0, begin)) + sizeOf(pruned.slice(earlier))
  let kept = 0
  while (kept < Math.min(older, KEPT[rerun])) {
    size += sizeOf(pruned.slice(earlier - 1 - kept, earlier - kept))
    if (size > charactersFor(room)) break
    kept++
  }
  // A turn is left out whole.
  const left = older - (kept - (kept % 2))
  const shortened = left === 0 ? pruned : [...pruned.slice(0, begin), ...pruned.slice(begin + left)]
  return shortened.length < tried.length || sizeOf(shortened) < sizeOf(tried) ? shortened : undefined
}

/** A request that was refused is longer than the window, so its length stands for a window that nobody has named. */
function pruneLower(messages: readonly ModelMessage[], room: number | undefined): readonly ModelMessage[] {
  return prune(messages, { ...LOWER, room: Math.min(sizeOf(messages), charactersFor(room)), besides: 0 })
}

function charactersFor(room = Number.POSITIVE_INFINITY): number {
  return room * SAFE_CHARACTERS_A_TOKEN
}

/** Fewer than a token of most texts has, which leaves room for the system prompt and the tools. */
const SAFE_CHARACTERS_A_TOKEN = 2.5
