import { describe, expect, it } from 'vitest'
import type { BudgetConfig } from '../../src/core/budget.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startSlackHousehold } from './slack-household.ts'

const script: Script = () => textReply('fine', { usage: { input_tokens: 9_000, output_tokens: 500 } })
const each = { each: { day: { tokens: 10_000 } } }
const budgets: BudgetConfig = { timezone: 'Europe/Berlin', warnAt: 1, prices: {}, topic: each }

/** The mention of the bot. */
const BOT = '<@900000000000000001>'

const STOP =
  /^My budget for this topic for today is used up; it begins anew on \d{4}-\d\d-\d\d at 00:00 \(Europe\/Berlin\)\.$/

describe('budgets on Slack', () => {
  it('C33: a thread is stopped with one line, another one is not, and /budget says what is left', async () => {
    const house = await startSlackHousehold({
      ...{ script, config: { budgets } },
      slack: { app: { slashCommands: ['/parley'] } },
    })
    const { world, ledger } = house.slack
    const channel = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] }).id
    const thread = world.say({ from: 'U333', channel, text: '<@U0BOT> hello' })
    expect((await ledger.nextFromBot('sent')).text).toBe('fine')
    const mark = ledger.mark()
    world.say({ from: 'U333', channel, thread, text: '<@U0BOT> and now?' })
    expect((await ledger.nextFromBot('sent', { after: mark })).text).toMatch(STOP)
    const later = ledger.mark()
    world.say({ from: 'U333', channel, thread, text: '<@U0BOT> really?' })
    world.say({ from: 'U333', channel, thread, text: '<@U0BOT> !budget' })
    const shown = (await ledger.nextWhisper({ after: later })).text
    expect(shown).toMatch(
      /topic slack:channel:\w+\/[\d.]+, day: 9,500 of 10,000 tokens; begins anew on .*; a call did not fit/,
    )
    const other = ledger.mark()
    world.say({ from: 'U333', channel, text: '<@U0BOT> hello elsewhere' })
    expect((await ledger.nextFromBot('sent', { after: other })).text).toBe('fine')
    expect(house.anthropic.ledger.requests()).toHaveLength(2)
  })
})

describe('budgets on Discord', () => {
  it('C33: to the owner who asks in a channel /budget shows what applies to them there, the total too', async () => {
    const total = { month: { tokens: 50_000 } }
    const house = await startDiscordHousehold({ script, config: { budgets: { ...budgets, total } } })
    const { world, ledger } = house.discord
    await ledger.nextCall('overwriteCommands')
    const after = ledger.mark()
    world.slash({ from: '222', channel: house.channel, command: 'budget' })
    const { text } = await ledger.nextWhisper('edited', { after })
    expect(text).toMatch(/^Budgets here:\n.*everything, month: 0 of 50,000 tokens/)
    expect(text).toMatch(/All others I show you in our direct chat\.$/)
  })

  it('C33: a thread is stopped with one line, and /budget says to whoever asks what is left, and to them alone', async () => {
    const house = await startDiscordHousehold({ script, config: { budgets } })
    const { world, ledger } = house.discord
    await ledger.nextCall('overwriteCommands')
    const say = (text: string) => world.say({ from: '444', channel: house.thread, text: `${BOT} ${text}` })
    const heard = async (text: string) => {
      const after = ledger.mark()
      say(text)
      return (await ledger.nextFromBot('sent', { after })).text
    }
    expect(await heard('hello')).toBe('fine')
    expect(await heard('and now?')).toMatch(STOP)
    const after = ledger.mark()
    say('really?')
    world.slash({ from: '222', channel: house.thread, command: 'budget' })
    const { text } = await ledger.nextWhisper('edited', { after })
    expect(text).toMatch(
      /topic discord:channel:\d+\/\d+, day: 9,500 of 10,000 tokens; begins anew on .*; a call did not fit/,
    )
    world.slash({ from: '444', channel: house.thread, command: 'budget' })
    expect((await ledger.nextWhisper('edited', { after: ledger.mark() })).text).toBe(
      'No budget applies to you here.\nHere: 3 turns, 9,000 tokens in, 500 out',
    )
    expect(house.anthropic.ledger.requests()).toHaveLength(1)
  })
})
