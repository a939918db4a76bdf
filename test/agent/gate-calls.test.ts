import { expect, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import type { Tool } from '../../src/core/turn.ts'
import { agentWith, call, fakeModel, never, play, results, story, tool, turnRequest } from './turns.ts'

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
