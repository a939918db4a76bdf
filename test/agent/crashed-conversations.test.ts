import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAnthropic } from '../../src/agent/models/anthropic.ts'
import type { ToolClass } from '../../src/core/model.ts'
import type { ThinkingLevel } from '../../src/core/session.ts'
import type { RunAgent, TurnResult } from '../../src/core/turn.ts'
import type { ContentBlock, MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import type { ReplyBlock } from '../../src/rehearsal/anthropic/script.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type AnthropicServer, startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { EMPTY_VIEW, extendView, requestMessages } from '../../src/sessions/view/model-view.ts'
import { noMedia } from '../fakes/media.ts'
import { eventLog } from '../fakes/session-events.ts'
import { runs } from '../sample.ts'
import { movedClock } from './moved-clock.ts'
import { agentWith, never, tool, turnRequest } from './turns.ts'

/** The tools each step of a turn calls. */
type Plan = readonly (readonly ToolClass[])[]
type Log = ReturnType<typeof eventLog>

const plans = fc.array(fc.array(fc.constantFrom<ToolClass>('pure', 'keyed', 'once'), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 2,
})
const limits = { turns: 50, dropTurns: 1, contextMessages: 50, contextCharacters: 9_000 }

let server: AnthropicServer
beforeEach(async () => {
  server = await startAnthropicServer()
})
afterEach(() => server.close())

/** The model of the conversations, and how hard it thinks. */
interface Thinker {
  readonly model: string
  readonly thinking?: ThinkingLevel
}

/** Plays the plan's steps one after the other, each behind its thoughts if it may think, then says `done`. */
function playPlan(plan: Plan): void {
  server.setScript((request) => {
    const at = stepsOf(request).length
    const step = plan[at]
    if (!step || smallTalk(request.messages.at(-1))) return textReply('done')
    const calls = step.map((name): ReplyBlock => ({ type: 'tool_use', name, input: { step: at } }))
    return { blocks: [...(mayThink(request) ? thoughtsOf(at) : []), ...calls] }
  })
}

/** The thoughts before the calls of a step: one or two of them. */
function thoughtsOf(step: number): ReplyBlock[] {
  const thought = (nth: number): ReplyBlock => ({
    type: 'thinking',
    thinking: `${step}.${nth}: ${'…'.repeat(10)}`,
    signature: `signature${step}${nth}/+==`,
  })
  return step % 2 === 0 ? [thought(0)] : [thought(0), thought(1)]
}

function mayThink({ thinking }: MessagesRequest): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive'
}

/** The blocks of each step of the running turn, as a request has them. */
function stepsOf({ messages }: MessagesRequest): readonly ContentBlock[][] {
  return messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string' && content.some(({ type }) => type === 'tool_use')
      ? [content]
      : [],
  )
}

const isThought = ({ type }: { readonly type: string }): boolean => type === 'thinking'

function smallTalk(message: unknown): boolean {
  return JSON.stringify(message).includes('small talk')
}

/** Every tool notes the calls it ran. */
async function agentNoting(ran: string[], { model: name }: Thinker): Promise<RunAgent> {
  const clock = movedClock()
  const model = await createAnthropic({
    apiKey: server.apiKey,
    baseUrl: server.baseUrl,
    model: name,
    clock,
    media: noMedia,
  })
  const noting = (kind: ToolClass) =>
    tool(kind, {
      class: kind,
      run: async (_, { callId }) => {
        ran.push(`${kind} ${callId}`)
        return 'ok'
      },
    })
  return agentWith(model, [noting('pure'), noting('keyed'), noting('once')])
}

interface Run {
  readonly agent: RunAgent
  readonly log: Log
  readonly thinker: Thinker
}

/** Runs a turn from its log and commits what it yields; dies instead of the commit with number `crashAt`. */
async function runTurn(run: Run, turn: string, crashAt = Number.POSITIVE_INFINITY): Promise<boolean> {
  const { agent, log, thinker } = run
  const { messages, open } = requestMessages(extendView(EMPTY_VIEW, log.events, 'direct', limits), 'direct')
  const profile = { ...turnRequest().agent, ...(thinker.thinking && { thinking: thinker.thinking }) }
  const steps = agent(turnRequest({ messages, open, agent: profile }), never())
  for (let commits = 0; ; commits++) {
    const step = await steps.next()
    if (commits === crashAt) return false
    if (step.done) return end(log, step.value, turn)
    // As the store keeps it.
    log.add(JSON.parse(JSON.stringify(step.value)), turn)
  }
}

function end(log: Log, result: TurnResult, turn: string): true {
  if (result.kind !== 'final') throw new Error(`The turn ended ${result.kind}`, { cause: result })
  log.answered(turn, result.text)
  return true
}

/** A turn of small talk, the planned one with a crash and its resumption, small talk again. False: nothing crashed. */
async function converse(thinker: Thinker, crashAt: number): Promise<boolean> {
  const ran: string[] = []
  const log = eventLog()
  const run = { agent: await agentNoting(ran, thinker), log, thinker }
  const talk = async (turn: string, crash?: number) => {
    log.user(turn === 't2' ? 'do it' : 'small talk')
    log.started(turn)
    return runTurn(run, turn, crash)
  }
  await talk('t1')
  const crashed = !(await talk('t2', crashAt))
  if (crashed) expect(await runTurn(run, 't2')).toBe(true)
  await talk('t3')
  const once = ran.filter((run) => run.startsWith('once'))
  expect(new Set(once).size, 'a once tool ran twice for one call').toBe(once.length)
  return crashed
}

describe('conversations with crashes', () => {
  it.each<Thinker>([
    { model: 'm' },
    { model: 'claude-haiku-4-5', thinking: 'low' },
    { model: 'claude-sonnet-5-5', thinking: 'high' },
  ])(
    'C19, C26, C27: random conversations of $model (thinking: $thinking) that crash at each commit are accepted by the strict server, with the thoughts of the running turn and without any part of an earlier one',
    async (thinker) => {
      let crashes = 0
      for (const plan of fc.sample(plans, { ...runs(10), seed: 41 })) {
        playPlan(plan)
        for (let at = 0; await converse(thinker, at); at++) crashes++
      }
      expect(server.ledger.all(({ kind }) => kind === 'refused')).toEqual([])
      const talks = server.ledger.requests().filter(({ messages }) => messages.length > 3 && smallTalk(messages.at(-1)))
      expect(talks.length).toBeGreaterThan(30)
      expect(talks.filter(({ messages }) => /tool_use|signature/.test(JSON.stringify(messages)))).toEqual([])
      expect(crashes).toBeGreaterThan(30)
      const requests = server.ledger.requests()
      expect(requests.filter((request) => mayThink(request) !== (thinker.thinking !== undefined))).toEqual([])
      const thoughts = requests.map((request) => stepsOf(request).map((blocks) => blocks.filter(isThought)))
      expect(thoughts).toEqual(
        thoughts.map((steps) => steps.map((_, at) => (thinker.thinking === undefined ? [] : thoughtsOf(at)))),
      )
      expect(thoughts.filter((steps) => steps.length > 1).length).toBeGreaterThan(10)
    },
  )
})
