import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const DICE = fileURLToPath(new URL('../../config/own-tools/dice.ts', import.meta.url))

const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  if (!lastUserText(request).includes('roll')) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name: 'roll_dice', input: { sides: 2 } }] }
}

it('a file of the operator gives the agent a tool and the chat a command, both from the first message on', async () => {
  const house = await startHousehold({
    ...{ script, streaming: false },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['own.dice'] }],
      ownTools: [{ name: 'dice', path: DICE }],
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [] },
    }),
  })
  const { world, ledger } = house.telegram
  const say = async (from: number, text: string): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
  }
  expect(await say(444, 'please roll')).toMatch(/^it says: It shows [12]\.$/)
  expect(await say(444, '/roll 3')).toMatch(/^It shows [123]\.$/)
  expect(await say(444, '/roll round')).toContain('2 to 1000')
  expect(await say(111, '/help')).toContain('/roll')
})

it('a file that cannot be loaded ends the start and is named', async () => {
  const start = startHousehold({ script, config: { ownTools: [{ name: 'gone', path: '/no/such/file.ts' }] } })
  await expect(start).rejects.toMatchObject({ code: 'config', message: expect.stringContaining('/no/such/file.ts') })
})
