import { setMaxListeners } from 'node:events'
import type { Clock } from '../core/clock.ts'
import { sleep } from '../core/clock.ts'
import { type Content, textContent } from '../core/content.ts'
import { copied } from '../core/cut-text.ts'
import { errorCode, toError } from '../core/errors.ts'
import type { ToolResultData } from '../core/event.ts'
import { failpoint } from '../core/failpoint.ts'
import { isProgramGone } from '../core/program-gone.ts'
import type { AgentSteps, JournalDraft, ToolContext, ToolOutput } from '../core/turn.ts'
import type { CallPlan } from './plan-calls.ts'
import { errorResult, INTERRUPTED } from './plan-calls.ts'

/** An abort waits this long for a running tool before its outcome counts as unknown. */
const ABORT_GRACE_MS = 2_000
/** Pure calls that run at a time: a model may write hundreds in one step, and each may hold a page of megabytes. */
const AT_ONCE = 5

interface ToolRun {
  readonly clock: Clock
  /** Characters of a result that are kept (R28). */
  readonly longest: number
  /** Returns a text without the values of configured secrets (C29). */
  redact(this: void, text: string): string
  readonly context: Omit<ToolContext, 'callId'>
}

type RunPlan = Extract<CallPlan, { kind: 'run' }>
type ToolEvents = AgentSteps<ToolResultData[]>

/**
 * Carries out the plans of one step and returns a result for each call, in the order they end. Every intent is
 * journaled before its tool starts, every new result as it comes. Pure calls run side by side, a few at a time; if
 * one is not pure all run in order, so that a crash leaves at most one call of unknown outcome. After an abort nothing
 * starts and every call still gets a result (R31).
 */
export async function* runTools(plans: readonly CallPlan[], run: ToolRun): ToolEvents {
  const results: ToolResultData[] = []
  const toRun: RunPlan[] = []
  for (const plan of plans) {
    if (plan.kind === 'run') toRun.push(plan)
    else results.push(plan.result)
    if (plan.kind === 'answered') yield journalResult(plan.result)
  }
  const atOnce = toRun.every(({ tool }) => tool.class === 'pure') ? AT_ONCE : 1
  for (let at = 0; at < toRun.length; at += atOnce) {
    results.push(...(yield* runBatch(toRun.slice(at, at + atOnce), run)))
  }
  return results
}

async function* runBatch(batch: readonly RunPlan[], { context, ...rest }: ToolRun): ToolEvents {
  for (const plan of batch) {
    if (plan.intended || context.signal.aborted) continue
    yield journalIntent(plan)
    failpoint('CP7-tool-intent')
  }
  const left = new AbortController()
  const signal = AbortSignal.any([context.signal, left.signal])
  // Each call of the step listens to it, and Node warns on stderr of more than ten.
  setMaxListeners(0, signal)
  const run: ToolRun = { ...rest, context: { ...context, signal } }
  const running = new Map(
    batch.map((plan, index) => [index, runOne(plan, run).then((outcome) => ({ index, ...outcome }))]),
  )
  const results: ToolResultData[] = []
  try {
    while (running.size > 0) {
      const { index, result, readAfter } = await Promise.race(running.values())
      running.delete(index)
      failpoint('CP9-tool-done-uncommitted')
      const stored = yield { ...journalResult(result), ...(readAfter === undefined ? {} : { readAfter }) }
      results.push(stored ?? result)
    }
  } finally {
    // A caller that stops listening must not leave a tool behind.
    if (running.size > 0) left.abort()
  }
  return results
}

type Outcome = { readonly result: ToolResultData } & Pick<ToolOutput, 'readAfter'>

/** Never rejects. */
async function runOne(plan: RunPlan, run: ToolRun): Promise<Outcome> {
  const { call, intended } = plan
  const { clock, context } = run
  if (context.signal.aborted)
    return { result: errorResult(call, intended ? INTERRUPTED : 'not run: the turn was stopped') }
  const running = outcomeOf(plan, run)
  failpoint('CP8-tool-running')
  const over = new AbortController()
  const unknown = afterAbort(context.signal, over.signal)
    .then(() => sleep(clock, ABORT_GRACE_MS, over.signal))
    .then(() => ({ result: errorResult(call, INTERRUPTED) }))
  const outcome = await Promise.race([running, unknown])
  over.abort()
  return outcome
}

/** Returns the result of a call as it is stored and shown. What a tool throws is as foreign as what it returns. */
async function outcomeOf({ call, tool }: RunPlan, { longest, redact, context }: ToolRun): Promise<Outcome> {
  const foreign = tool.foreign ? { foreign: tool.foreign } : {}
  try {
    const output = await tool.run(call.args, { ...context, callId: call.id })
    const {
      content,
      shows = [],
      readAfter,
      ...rest
    }: ToolOutput = typeof output === 'string' ? { content: textContent(output) } : output
    const whole = withTexts(content, redact)
    const shown =
      lengthOf(whole) <= longest ? whole : await cutAndKept(whole, { longest, name: call.name, keep: context.keep })
    const result = { callId: call.id, tool: call.name, content: shown, isError: false, ...foreign, ...rest }
    return {
      result: shows.length === 0 ? result : { ...result, shows },
      ...(readAfter === undefined ? {} : { readAfter }),
    }
  } catch (error) {
    // No tool failed: the daemon ends, and the next start takes the turn up again.
    if (isProgramGone(error)) throw error
    const code = errorCode(error)
    // A call that was under way when the daemon stopped may have been made, as at a crash.
    const isCutOff = code === 'aborted' && tool.class === 'once' && context.signal.aborted
    const words = isCutOff ? INTERRUPTED : cut(redact(toError(error).message), longest)
    const result = { ...errorResult(call, words), ...foreign }
    const denied = code === 'forbidden' || (code === 'not_found' && tool.reach === 'judged')
    return { result: denied ? { ...result, denied } : result }
  }
}

/** Resolves when `signal` aborts; `over` takes the listener away. */
function afterAbort(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: over }))
}

/** Returns the content with `change` made to each text, and to the names of its files. */
function withTexts(content: Content, change: (text: string) => string): Content {
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: change(part.text) }
    return part.name === undefined ? part : { ...part, name: change(part.name) }
  })
}

function lengthOf(content: Content): number {
  return content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
}

/** Returns content that is too long as the model is shown it: its texts cut, and the whole of them as a file behind. */
async function cutAndKept(
  content: Content,
  { longest, name, keep }: { readonly longest: number; readonly name: string; readonly keep: ToolContext['keep'] },
): Promise<Content> {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const shown = bounded(content, longest)
  try {
    return [...shown, await keep(Buffer.from(texts.join('\n')), `${name}.txt`)]
  } catch {
    // Larger than any file that is kept, or the disk is full: what is shown says how much is missing.
    return shown
  }
}

/** Returns the content with its texts, taken together, cut at the limit. */
function bounded(content: Content, longest: number): Content {
  let left = longest
  return content.map((part) => {
    if (part.type !== 'text') return part
    const text = cut(part.text, left)
    left = Math.max(0, left - part.text.length)
    return { type: 'text', text }
  })
}

/** Never between the two halves of a character. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = /[\uD800-\uDBFF]/.test(text.charAt(limit - 1))
  const kept = copied(text.slice(0, half ? limit - 1 : limit))
  return `${kept}\n[cut: ${text.length - kept.length} more characters]`
}

function journalIntent({ call, tool }: RunPlan): JournalDraft {
  return { type: 'tool_call', data: { callId: call.id, tool: call.name, args: call.args, class: tool.class } }
}

function journalResult(data: ToolResultData): JournalDraft {
  return { type: 'tool_result', data }
}
