import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'
import { startTwoMore } from './three-platforms.ts'

const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** Ada, who owns the agent and has one conversation with it from wherever she is. */
async function oneForAll() {
  const beside = await startTwoMore()
  const house = await startHousehold({ script: hear, streaming: false, routing: { direct: 'main' }, beside })
  const { telegram } = house
  const { discord } = beside
  const mark = telegram.ledger.mark()
  telegram.world.say({ from: 111, text: 'the bin goes out' })
  await telegram.ledger.nextFromBot('sent', { after: mark })
  const later = discord.ledger.mark()
  discord.world.say({ from: '222', text: 'the cat stays in' })
  await discord.ledger.nextFromBot('sent', { after: later })
  return house
}

it('S41: the receipt for a conversation that joins chats names every platform on which its words were said', async () => {
  const { daemon } = await oneForAll()
  const { sessions } = await daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })
  expect(sessions).toHaveLength(1)
  const ask = (kind: 'chat' | 'person', name: string) =>
    daemon.operator.forgetting.forget({ kind, name, confirmed: false }).then(({ platforms }) => Object.keys(platforms))
  expect((await ask('chat', sessions[0]?.key ?? '')).sort()).toEqual(['Discord', 'Telegram'])
  expect((await ask('person', 'ada')).sort()).toEqual(['Discord', 'Telegram'])
  expect(await ask('chat', 'telegram:direct:111')).toEqual(['Telegram'])
})

it('S41: whoever has somebody forgotten by one id is shown all ids that go with it', async () => {
  const { daemon } = await oneForAll()
  const { whose } = await daemon.operator.forgetting.forget({ kind: 'person', name: 'telegram:111', confirmed: false })
  expect(whose?.person).toBe('ada')
  expect(whose?.ids).toEqual(expect.arrayContaining(['telegram:111', 'discord:222']))
})

it('S41: the receipt names the copies of the database, which stay as they are', async () => {
  const { daemon, dataDir, telegram } = await startHousehold({ script: hear, streaming: false })
  const copy = join(dataDir, 'parley.db.before-v7')
  writeFileSync(copy, 'an older database')
  const answered = async (text: string) => {
    const after = telegram.ledger.mark()
    telegram.world.say({ from: 111, text })
    return (await telegram.ledger.nextFromBot('sent', { after })).text
  }
  await answered('the bin goes out')
  const asked = { kind: 'chat', name: 'telegram:direct:111', confirmed: false } as const
  expect((await daemon.operator.forgetting.forget(asked)).backups).toEqual([copy])
  expect(await answered('/forget chat')).toContain(`Copies of the database that I do not change: ${copy}.`)
})
