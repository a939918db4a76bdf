import { createRunAgent } from '../../src/agent/agent-loop.ts'
import type { RunAgentServices } from '../../src/agent/turn-progress.ts'
import { textContent } from '../../src/core/content.ts'
import { inWords } from '../../src/core/content-words.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { SessionId, TraceId, TurnId } from '../../src/core/ids.ts'
import { toAgentId } from '../../src/core/ids.ts'
import {
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ModelToolCall,
  NO_USAGE,
  type Opaque,
  type StopReason,
  type Usage,
} from '../../src/core/model.ts'
import type { JournalDraft, RunAgent, Tool, ToolContext, TurnRequest, TurnResult } from '../../src/core/turn.ts'
import { noMedia } from '../fakes/media.ts'
import { movedClock } from './moved-clock.ts'

/** What a fake model says to one request. Usage is 10 tokens in and 1 out. */
export interface Say {
  readonly deltas?: readonly string[]
  readonly calls?: readonly ModelToolCall[]
  readonly stop?: StopReason
  readonly opaque?: Opaque
  /** The tokens that the model reads at once, as its server has named them. */
  readonly window?: number
  /** Other than 10 in and 1 out. */
  readonly usage?: Usage
  /** Thrown after the deltas. */
  readonly fail?: unknown
  /** Awaited after the deltas. */
  readonly hold?: Promise<void>
}

export interface FakeModel extends Model {
  readonly requests: ModelRequest[]
}

/** Says one thing after the other; the last again and again. An aborted call throws `aborted` as the port demands. */
export function fakeModel(...says: readonly Say[]): FakeModel {
  const requests: ModelRequest[] = []
  return {
    id: 'fake/model',
    requests,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      requests.push(request)
      const say = says[Math.min(requests.length, says.length) - 1] ?? {}
      for (const delta of say.deltas ?? []) yield { type: 'text', delta }
      if (say.hold) await Promise.race([say.hold, aborted(signal)])
      if (say.fail !== undefined) throw say.fail
      for (const one of say.calls ?? []) yield { type: 'tool_call', call: one }
      yield endOf(say)
    },
  }
}

function endOf({ calls = [], window, opaque, ...say }: Say): ModelEvent {
  const { stop = calls.length > 0 ? 'tools' : 'end', usage = { input: 10, output: 1 } } = say
  const more = { ...(window === undefined ? {} : { window }), ...(opaque && { opaque }) }
  return { type: 'end', stop, usage, model: 'fake/model-1', ...more }
}

/** The events of a model call, each when it is asked for. */
export async function* oneByOne(events: ReturnType<Model['stream']>): AsyncGenerator<ModelEvent> {
  yield* events
}

function aborted(signal: AbortSignal): Promise<never> {
  const error = new ParleyError('aborted', 'stopped')
  if (signal.aborted) return Promise.reject(error)
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(error)))
}

export function call(id: string, name: string, args: unknown = {}): ModelToolCall {
  return { id, name, args }
}

/** A tool that runs a function; by default it answers `<name> ran`. */
export function tool(
  name: string,
  more: Partial<Pick<Tool, 'class' | 'reach' | 'foreign' | 'run'>> & { required?: string[] } = {},
): Tool {
  const { required, ...rest } = more
  const parameters = { type: 'object', ...(required ? { required } : {}) }
  return {
    spec: { name, description: name, parameters },
    class: 'pure',
    reach: 'inside',
    run: async () => `${name} ran`,
    ...rest,
  }
}

export function turnRequest(more: Partial<TurnRequest> = {}): TurnRequest {
  return {
    turnId: 'turn_1' as TurnId,
    sessionId: 'telegram:2026-11-21-00000000' as SessionId,
    traceId: 'tr_1' as TraceId,
    agent: { id: toAgentId('main'), model: 'fake/model', prompt: 'Be brief.', tools: [] },
    chatType: 'direct',
    messages: [{ role: 'user', content: textContent('hello') }],
    spent: { steps: 0, usage: NO_USAGE },
    show: () => {},
    steer: async () => [],
    ...more,
  }
}

export function agentWith(model: Model, tools: readonly Tool[] = [], more: Partial<RunAgentServices> = {}) {
  return createRunAgent({
    models: async () => model,
    tools: () => tools,
    media: noMedia,
    clock: movedClock(),
    timeZone: 'UTC',
    ...more,
  })
}

/** What a turn wanted on record, and what came of it. */
export interface Played {
  readonly journal: readonly JournalDraft[]
  readonly result: TurnResult
}

/** Plays a turn to its end; `commit` is awaited for each event. */
export async function play(
  turn: ReturnType<RunAgent>,
  commit: (event: JournalDraft) => void | Promise<void> = () => {},
): Promise<Played> {
  const journal: JournalDraft[] = []
  let step = await turn.next()
  while (!step.done) {
    journal.push(step.value)
    await commit(step.value)
    step = await turn.next()
  }
  return { journal, result: step.value }
}

export const never = (): AbortSignal => new AbortController().signal

/** `assistant_step`, `tool_call a`, `tool_result a`, … in order. */
export function story(journal: readonly JournalDraft[]): string[] {
  return journal.map((event) => (event.type === 'assistant_step' ? event.type : `${event.type} ${event.data.callId}`))
}

/** Returns the tool results of a journal, their content in words. */
export function results(journal: readonly JournalDraft[]) {
  return journal.flatMap(({ type, data }) =>
    type === 'tool_result' ? [{ ...data, content: inWords(data.content) }] : [],
  )
}

export function failure(result: TurnResult): ErrorCode | undefined {
  return result.kind === 'failed' ? result.code : undefined
}

export const toolContext = (now: number): ToolContext => ({
  turnId: 'turn_1' as TurnId,
  sessionId: 's' as SessionId,
  agentId: toAgentId('main'),
  callId: 'c1',
  signal: never(),
  now: () => now,
  keep: noMedia.keep,
})
