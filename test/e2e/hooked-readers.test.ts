import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { startApiHouse, tokenWith } from './api-house.ts'
import { callText, repeating } from './obedient.ts'

const SECRET = 'a secret of the build'
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }]
const deliverTo = parseAddress('telegram:direct:444')

it('T32, T34: what an owner asks of the session of a hook is read for whoever the hook delivers to', async () => {
  const house = await startApiHouse({
    ...{ script: repeating, streaming: false, config: { agents } },
    http: { hooks: [{ name: 'build', secret: new Secret(SECRET), signature: 'parley', sessions: [], deliverTo }] },
    routing: { people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')] },
  })
  const { world, ledger } = house.telegram
  const say = async (from: number, text: string): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
  }
  await say(444, 'hello')
  await say(111, 'my secret is bluebird')
  const body = '{"red":true}'
  const at = String(Date.now())
  const signature = `v1=${createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex')}`
  const headers = { 'x-parley-timestamp': at, 'x-parley-signature': signature, ...(await tokenWith(house, ['hooks'])) }
  const after = ledger.mark()
  const { json } = await house.ask('/v1/hooks/build', { method: 'POST', headers, body })
  const { session: sessionKey } = json as { readonly session: string }
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 444 })
  const message = callText('sessions_history', { sessionKey: 'telegram:direct:111' })
  expect(await say(111, callText('sessions_send', { sessionKey, message, announce: true }))).toContain('Denied')
  expect(JSON.stringify(world.messages(444, { by: 'bot' }))).not.toContain('bluebird')
})
