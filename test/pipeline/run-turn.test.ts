import { expect, it } from 'vitest'
import type { AgentProfile } from '../../src/core/agent-profile.ts'
import { systemClock } from '../../src/core/clock.ts'
import { textContent } from '../../src/core/content.ts'
import { NO_USAGE, type ToolClass } from '../../src/core/model.ts'
import type { JournalDraft, RunAgent, TurnResult } from '../../src/core/turn.ts'
import type { LiveTurn } from '../../src/delivery/growing-message.ts'
import { afterFailure, createRunTurn, type RunTurnDeps } from '../../src/pipeline/run-turn.ts'
import { SUSPENDED } from '../../src/sessions/turns/running-turns.ts'
import type { StartedTurn } from '../../src/sessions/turns/started-turn.ts'
import { EMPTY_VIEW } from '../../src/sessions/view/model-view.ts'
import { dispatchOf, ids, sessionDraft } from '../store/sample-rows.ts'

const DONE: TurnResult = { kind: 'final', text: 'done', model: 'm', usage: NO_USAGE, steps: 1 }
const intent = (kind: ToolClass): JournalDraft => ({
  type: 'tool_call',
  data: { callId: 'c', tool: 't', args: {}, class: kind },
})
const result: JournalDraft = {
  type: 'tool_result',
  data: { callId: 'c', tool: 't', content: textContent('x'), isError: false },
}

/** An agent that yields `steps`, and what was done with it: commits, and what was left when the turn was over. */
function runTurnWith(
  steps: readonly JournalDraft[],
  commit: () => void = () => {},
  live: (turn: LiveTurn) => void = () => {},
) {
  const told: string[] = []
  const runAgent: RunAgent = async function* () {
    try {
      yield* steps
      return DONE
    } finally {
      told.push('agent over')
    }
  }
  const write = async (): Promise<void> => {
    commit()
    told.push('committed')
  }
  const deps = {
    ...{ store: { write }, clock: systemClock, runAgent, busy: 'queue', agent: () => ({ model: 'scripted/echo' }) },
    ...{
      joined: () => false,
      ownName: () => 'Parley',
      verbose: () => 'off',
      cap: () => undefined,
      refusesAgent: () => undefined,
      speaks: async () => false,
    },
    charge: async () => undefined,
    chargeRecording: async () => undefined,
    transcript: { view: () => EMPTY_VIEW, shown: () => EMPTY_VIEW },
    approvals: { gate: () => undefined, settled() {}, callsOf: async () => [] },
    delivery: {
      live(turn: LiveTurn) {
        live(turn)
        return { push() {}, settle: () => void told.push('settled'), shown: () => undefined }
      },
      present: async () => undefined,
      typing: () => () => void told.push('typing over'),
    },
  } as unknown as RunTurnDeps
  return { told, deps, runTurn: createRunTurn(deps) }
}

function turnOf(): StartedTurn {
  const { traceId, reply } = dispatchOf(1, 1)
  const session = sessionDraft(1) as StartedTurn['session']
  return { id: ids.turn(), session, traceId, reply, startedAt: 1 }
}

const OVER = ['agent over', 'typing over', 'settled']
const never = new AbortController().signal

it('commits each step and returns what came of the last', async () => {
  const { told, runTurn } = runTurnWith([intent('pure'), result])
  expect(await runTurn(turnOf(), never)).toBe(DONE)
  expect(told).toEqual(['committed', 'committed', ...OVER])
})

it('what is shown early of an answer for strangers has low priority', async () => {
  const shown: unknown[] = []
  const runTurn = runTurnWith(
    [],
    () => {},
    (turn) => void shown.push(turn),
  ).runTurn
  await runTurn({ ...turnOf(), forStrangers: true }, never)
  expect(shown).toMatchObject([{ lowPriority: {} }])
})

it.each([
  ['a script, which costs nothing, is not', { model: 'scripted/echo' }, 0],
  ['a model is', { model: 'anthropic/claude' }, 1],
  ['a script is where a model may answer in its place', { model: 'scripted/echo', fallback: ['openai/gpt'] }, 1],
])('a turn of an agent is charged: %s', async (_, profile, times) => {
  const { deps } = runTurnWith([])
  let charged = 0
  const charge = async () => void charged++
  await createRunTurn({ ...deps, agent: () => profile as AgentProfile, charge })(turnOf(), never)
  expect(charged).toBe(times)
})

it('a step that cannot be committed fails the turn, and nothing of it goes on running', async () => {
  const { told, runTurn } = runTurnWith([intent('pure'), result], () => {
    throw new Error('the disk is full')
  })
  expect(await runTurn(turnOf(), never)).toMatchObject({ kind: 'failed', cause: new Error('the disk is full') })
  expect(told).toEqual(OVER)
})

it.each([
  ['what may run again has no result yet', 'keyed', ['committed', ...OVER]],
  ['what must not run again keeps the result it has', 'once', ['committed', 'committed', ...OVER]],
] as const)('of a turn that is put down %s', async (_, kind, story) => {
  const { told, runTurn } = runTurnWith([intent(kind), result])
  const ended = await runTurn(turnOf(), AbortSignal.abort(SUSPENDED))
  expect([ended.kind, told]).toEqual([kind === 'once' ? 'final' : 'aborted', story])
})

it('an end that this program cannot store for an error of its own is stored as a failure; a full disk is waited for', () => {
  expect(afterFailure(DONE, undefined)).toBe(DONE)
  expect(afterFailure(DONE, new Error('database or disk is full'))).toBe(DONE)
  expect(afterFailure(DONE, new TypeError('x is undefined'))).toMatchObject({
    kind: 'failed',
    code: 'internal',
    steps: 1,
  })
})
