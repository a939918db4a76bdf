import { expect, test } from 'vitest'
import { gateCalls } from '../../src/agent/gate-calls.ts'
import type { CallPlan } from '../../src/agent/plan-calls.ts'
import type { CallGate, GatedCall } from '../../src/core/call-gate.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { Tool } from '../../src/core/turn.ts'
import { agentWith, call, fakeModel, never, play, results, story, tool, toolContext, turnRequest } from './turns.ts'

/** Returns the outcome of one call of this tool. */
async function outcome(more: Partial<Pick<Tool, 'reach' | 'foreign'>>) {
  let ran = false
  const run = async () => {
    ran = true
    return 'done'
  }
  // Spread last, so that an absent reach is one that is not said.
  const given = { ...tool('act', { class: 'once', run }), reach: undefined, ...more } as Tool
  const model = fakeModel({ calls: [call('a', 'act', { url: 'https://a.test' })] }, { deltas: ['ok'] })
  const played = await play(agentWith(model, [given])(turnRequest(), never()))
  return { ran, story: story(played.journal), result: played.journal.find(({ type }) => type === 'tool_result')?.data }
}

test('T32: a tool that does not say where it acts counts as one that acts elsewhere', async () => {
  const { ran, story, result } = await outcome({})
  expect(ran).toBe(false)
  expect(story).toEqual(['assistant_step', 'tool_result a'])
  expect(result).toMatchObject({ denied: true, isError: true })
})

test('T32: the arguments of a call may say where it acts', async () => {
  const byHost =
    (inside: string): NonNullable<Tool['reach']> =>
    async (args) =>
      (args as { url: string }).url.startsWith(inside) ? 'inside' : 'beyond'
  expect(await outcome({ reach: byHost('https://a.test') })).toMatchObject({ ran: true })
  expect(await outcome({ reach: byHost('https://b.test') })).toMatchObject({ ran: false, result: { denied: true } })
})

test('T32: a call whose place cannot be found does not run, and the model reads why', async () => {
  const { ran, result } = await outcome({
    reach: async () => {
      throw new ParleyError('invalid', 'url must be an address.')
    },
  })
  expect(ran).toBe(false)
  expect(results([{ type: 'tool_result', data: result } as never])).toMatchObject([
    { content: 'url must be an address.' },
  ])
})

test('T32: what a foreign tool returns is marked as such', async () => {
  expect((await outcome({ reach: 'inside', foreign: true })).result).toMatchObject({ foreign: true })
  expect((await outcome({ reach: 'inside' })).result).not.toHaveProperty('foreign')
})

/** Returns how one call of this tool is gated: the questions that are journaled, and its plan. */
async function gated(gate: Partial<CallGate>, more: Partial<Tool> = {}) {
  const run: CallPlan = { kind: 'run', call: call('a', 'act'), tool: { ...tool('act'), ...more }, intended: false }
  const outcome = async () => ({ kind: 'open' }) as const
  const judge = async () => ({ kind: 'allow' }) as const
  const steps = gateCalls([run], { context: toolContext(0), gate: { judge, outcome, ...gate } })
  const asked: string[] = []
  for (;;) {
    const { done, value } = await steps.next()
    if (done) return { asked, plan: value[0] }
    asked.push(value.type)
  }
}

test.each([
  [{ class: 'pure' }, false],
  [{ class: 'keyed' }, true],
  [{ class: 'once' }, true],
  [{ class: 'keyed', keepsWords: false }, false],
] as const)(
  'S41: the gate learns whether a call may keep words; what changes something may, unless the tool says not: %j',
  async (more, keepsWords) => {
    const judged: GatedCall[] = []
    const judge = async (one: GatedCall) => {
      judged.push(one)
      return { kind: 'allow' } as const
    }
    expect(await gated({ judge }, more)).toMatchObject({ plan: { kind: 'run' } })
    expect(judged).toMatchObject([{ keepsWords }])
  },
)

test.each([
  [false, ['approval_requested']],
  [true, []],
])('S7: a question is journaled once, also where a crash has interrupted its step: %s', async (asked, journaled) => {
  const judge = async () => ({ kind: 'ask', code: 'k7m3f', asked }) as const
  expect((await gated({ judge })).asked).toEqual(journaled)
})

test('S7: a call whose place is forbidden is on record as denied, and one that fails otherwise is not', async () => {
  const failing = (code: 'forbidden' | 'not_found') =>
    gated({
      judge: async () => {
        throw new ParleyError(code, 'No.')
      },
    })
  expect(await failing('forbidden')).toMatchObject({ plan: { result: { isError: true, denied: true } } })
  expect((await failing('not_found')).plan).not.toHaveProperty('result.denied')
})
