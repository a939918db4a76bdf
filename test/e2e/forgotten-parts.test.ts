import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { startSlackHousehold } from './slack-household.ts'

const [HERS, HIS] = ['canaryhers', 'canaryhis']
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)
const fine: Script = () => textReply('fine')

it('S41: of the files that one turn was shown only those go whose messages are forgotten', async () => {
  const { world, ledger, home, say, prompt, addGroup } = await forgettingHouse({ script: fine })
  const chat = addGroup('Family')
  await say('hello', { chat })
  const share = (from: number, name: string, caption: string) =>
    world.say({
      ...{ from, chat, text: '' },
      extra: fileFields(world, {
        as: 'document',
        name: `${name}.txt`,
        bytes: Buffer.from(`in it is ${name}`),
        caption,
      }),
    })
  const { message_id: id } = share(444, HIS, '')
  const after = ledger.mark()
  share(555, HERS, '@parley_bot and mine')
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
  await recorded(home)
  expect([holding(home.dataDir, HIS), holding(home.dataDir, HERS)]).not.toContainEqual([])
  world.say({ from: 444, chat, text: '/forget', replyTo: id })
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('Forgotten: ') })
  await say('what was in it?', { from: 555, chat })
  expect(prompt()).toContain(`in it is ${HERS}`)
  // Both answers are there still.
  expect(prompt().split('fine')).toHaveLength(3)
  expect(holding(home.dataDir, HERS).filter((name) => name.startsWith('media'))).toHaveLength(1)
  expect(prompt()).not.toContain(HIS)
  expect(holding(home.dataDir, HIS)).toEqual([])
})

it('S41: of a thread that was read only those messages go that are forgotten', async () => {
  const { slack, anthropic, daemon } = await startSlackHousehold({ script: hear })
  const { world, ledger } = slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444', 'U555'] })
  world.setMember(channel, false)
  const thread = world.say({ from: 'U444', channel, text: `it is ${HIS}` })
  world.say({ from: 'U555', channel, thread, text: `no, it is ${HERS}` })
  world.setMember(channel, true)
  const ask = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 'U444', channel, thread, text: `<@U0BOT> ${text}` })
    await ledger.nextFromBot('sent', { after, where: (entry) => entry.text.includes(text) })
    return JSON.stringify(anthropic.ledger.requests().at(-1)?.messages)
  }
  const before = await ask('what now?')
  expect([before.includes(HIS), before.includes(HERS)]).toEqual([true, true])
  await daemon.operator.forgetting.forget({ kind: 'person', name: 'slack:t01/u555', confirmed: true })
  const shown = await ask('and then?')
  expect(shown).toContain(HIS)
  expect(shown).not.toContain(HERS)
})
