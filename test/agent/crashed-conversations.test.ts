import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAnthropic } from '../../src/agent/models/anthropic.ts'
import type { ToolClass } from '../../src/core/model.ts'
import type { RunAgent, TurnResult } from '../../src/core/turn.ts'
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

/** Plays the plan's steps one after the other, then says `done`. */
function playPlan(plan: Plan): void {
  server.setScript(({ messages }) => {
    const asked = messages.filter(
      ({ role, content }) => role === 'assistant' && JSON.stringify(content).includes('tool_use'),
    )
    const step = plan[asked.length]
    if (!step || smallTalk(messages.at(-1))) return textReply('done')
    return { blocks: step.map((name): ReplyBlock => ({ type: 'tool_use', name, input: { step: asked.length } })) }
  })
}

function smallTalk(message: unknown): boolean {
  return JSON.stringify(message).includes('small talk')
}

/** Every tool notes the calls it ran. */
async function agentNoting(ran: string[]): Promise<RunAgent> {
  const clock = movedClock()
  const model = await createAnthropic({
    apiKey: server.apiKey,
    baseUrl: server.baseUrl,
    model: 'm',
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

/** Runs a turn from its log and commits what it yields; dies instead of the commit with number `crashAt`. */
async function runTurn(agent: RunAgent, log: Log, turn: string, crashAt = Number.POSITIVE_INFINITY): Promise<boolean> {
  const { messages, open } = requestMessages(extendView(EMPTY_VIEW, log.events, 'direct', limits), 'direct')
  const steps = agent(turnRequest({ messages, open }), never())
  for (let commits = 0; ; commits++) {
    const step = await steps.next()
    if (commits === crashAt) return false
    if (step.done) return end(log, step.value, turn)
    log.add(step.value, turn)
  }
}

function end(log: Log, result: TurnResult, turn: string): true {
  if (result.kind !== 'final') throw new Error(`The turn ended ${result.kind}`, { cause: result })
  log.answered(turn, result.text)
  return true
}

/** A turn of small talk, the planned one with a crash and its resumption, small talk again. False: nothing crashed. */
async function converse(crashAt: number): Promise<boolean> {
  const ran: string[] = []
  const agent = await agentNoting(ran)
  const log = eventLog()
  const talk = async (turn: string, crash?: number) => {
    log.user(turn === 't2' ? 'do it' : 'small talk')
    log.started(turn)
    return runTurn(agent, log, turn, crash)
  }
  await talk('t1')
  const crashed = !(await talk('t2', crashAt))
  if (crashed) expect(await runTurn(agent, log, 't2')).toBe(true)
  await talk('t3')
  const once = ran.filter((run) => run.startsWith('once'))
  expect(new Set(once).size, 'a once tool ran twice for one call').toBe(once.length)
  return crashed
}

describe('conversations with crashes', () => {
  it('C27: random conversations that crash at each commit are accepted by the strict server, without tool parts of earlier turns', async () => {
    let crashes = 0
    for (const plan of fc.sample(plans, { ...runs(20), seed: 41 })) {
      playPlan(plan)
      for (let at = 0; await converse(at); at++) crashes++
    }
    expect(server.ledger.all(({ kind }) => kind === 'refused')).toEqual([])
    const talks = server.ledger.requests().filter(({ messages }) => messages.length > 3 && smallTalk(messages.at(-1)))
    expect(talks.length).toBeGreaterThan(30)
    expect(talks.filter((request) => JSON.stringify(request.messages).includes('tool_use'))).toEqual([])
    expect(crashes).toBeGreaterThan(30)
  })
})
