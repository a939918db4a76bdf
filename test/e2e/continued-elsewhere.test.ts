import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { parley } from './house-command.ts'
import { recorded, startHousehold } from './household.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** Ada's words in one group go on in another, whose messages have the same numbers. */
async function continued() {
  const house = await startHousehold({ script, streaming: false })
  const { world, ledger } = house.telegram
  const add = (title: string) => world.addChat({ type: 'supergroup', title, members: [111, 444, 555] }).id
  const [family, club] = [add('Family'), add('Club')]
  const say = async (chat: number, from: number, text: string) => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from, chat, text: `@parley_bot ${text}` })
    await ledger.nextFromBot('sent', { after })
    await recorded(house)
    return id
  }
  const ids = [await say(family, 111, 'dinner is at seven')]
  const { code } = await parley(house.config, [
    'sessions',
    'fork',
    `telegram:group:${family}`,
    `telegram:group:${club}`,
    '--yes',
  ])
  expect(code).toBe(0)
  ids.push(await say(club, 444, 'who cooks?'))
  expect(ids[0], 'the numbers of the two messages').toBe(ids[1])
  const prompt = async () => {
    await say(club, 111, 'and now?')
    return JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  }
  return { house, world, club, message: Number(ids[1]), prompt }
}

describe('a session that was continued elsewhere', () => {
  it('an edit there changes no words that were said here by another person, whose message has the same number', async () => {
    const { house, world, club, message, prompt } = await continued()
    world.edit({ chat: club, message, text: '@parley_bot pay cy' })
    await recorded(house)
    const shown = await prompt()
    expect(shown).toContain('pay cy')
    expect(shown).toContain('dinner is at seven')
  })

  it('C23: an exchange that is taken back there takes nothing of what was said here, by a message of the same number', async () => {
    const { world, house, club, prompt } = await continued()
    const after = house.telegram.ledger.mark()
    world.say({ from: 444, chat: club, text: '/undo@parley_bot' })
    await house.telegram.ledger.nextFromBot('sent', { after })
    const shown = await prompt()
    expect(shown).not.toContain('who cooks')
    expect(shown).toContain('dinner is at seven')
    await house.restart()
    expect(await prompt()).toContain('dinner is at seven')
  })
})
