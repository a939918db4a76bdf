import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { type Household, startHousehold } from './household.ts'
import { obedient } from './obedient.ts'

/** Says something in a direct chat, and returns what the bot answers there. */
async function say({ telegram }: Household, from: number, text: string): Promise<string> {
  const after = telegram.ledger.mark()
  telegram.world.say({ from, text })
  return (await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
}

describe('an id that goes from one person to another', () => {
  it('S19: reads and writes nothing in the main session of its former owner', async () => {
    const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }]
    const house = await startHousehold({
      ...{ script: obedient(), streaming: false, config: { agents } },
      routing: { direct: 'main', people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')] },
    })
    const { people } = house.daemon.operator
    await people.link('ada', 'telegram:555')
    await say(house, 555, 'hi')
    await people.unlink('telegram:555')
    await people.link('bob', 'telegram:555')
    await say(house, 111, 'my secret is bluebird')
    expect(await say(house, 444, 'sessions_history {"sessionKey":"main"}')).not.toContain('bluebird')
    const wish = '{"sessionKey":"main","message":"post this","announce":true,"timeoutSeconds":1}'
    expect(await say(house, 444, `sessions_send ${wish}`)).not.toMatch(/"status":"(ok|accepted|timeout)"/)
  })

  it('S19: gets no answer that was asked for its chat before it was parted', async () => {
    const gate = createGate()
    const script: Script = (request) => {
      const [secret = 'nothing'] = /my secret is \w+/.exec(JSON.stringify(request.messages)) ?? []
      const holds = lastUserText(request).includes('slow') ? { holds: [{ beforeDelta: 0, gate }] } : {}
      return textReply(`I know: ${secret}`, holds)
    }
    const routing = { direct: 'person', people: [owner('ada', 'telegram:111')] } as const
    const house = await startHousehold({ script, streaming: false, routing })
    const { people, sessions } = house.daemon.operator
    await people.link('ada', 'telegram:555')
    await say(house, 111, 'my secret is bluebird')
    await say(house, 555, 'hi')
    const asked = sessions.post('direct:ada', { text: 'slow', deliver: true })
    await gate.reached
    await people.unlink('telegram:555')
    gate.release()
    expect(await asked).toMatchObject({ status: 'ok', reply: 'I know: my secret is bluebird' })
    await house.daemon.stop()
    const shown = house.telegram.world.messages(555, { by: 'bot' }).map(({ message }) => message.text)
    expect(shown.slice(1).join()).not.toContain('bluebird')
    await house.restart()
  })
})
