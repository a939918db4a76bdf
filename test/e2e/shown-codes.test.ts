import { describe, expect, it } from 'vitest'
import { owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, startHousehold } from './household.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

const BURNT = 'A one-time code was shown and is worth nothing now; `parley status` has the claim code in force'

type Place = Household & { readonly chat: number }
type Showing = (of: Place, code: string) => void

async function codeOf({ daemon }: Household): Promise<string> {
  const [claim] = (await daemon.operator.status()).claims
  return new URL(claim?.link ?? '').searchParams.get('start') ?? ''
}

const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))

/** What can be done with a code so that others read it. */
const SHOWN: readonly (readonly [string, Showing])[] = [
  [
    'typed as the command in a group',
    ({ telegram, chat }, code) => telegram.world.say({ from: 111, chat, text: `/start@parley_bot ${code}` }),
  ],
  [
    'said in a sentence in a group',
    ({ telegram, chat }, code) => telegram.world.say({ from: 555, chat, text: `is it "${code}"?` }),
  ],
  [
    'told to another bot',
    ({ telegram, chat }, code) => telegram.world.say({ from: 111, chat, text: `/start@dice_bot ${code}` }),
  ],
  [
    'pasted as the link',
    ({ telegram, chat }, code) =>
      telegram.world.say({ from: 111, chat, text: `https://t.me/parley_bot?start=${code}` }),
  ],
  [
    'in other letters',
    ({ telegram, chat }, code) => telegram.world.say({ from: 111, chat, text: `x${fullWidth(code.toUpperCase())}x` }),
  ],
  [
    'between invisible characters and lines',
    ({ telegram, chat }, code) => telegram.world.say({ from: 111, chat, text: [...code].join('\u200b\u2028\u00ad') }),
  ],
  [
    'by a bot',
    ({ telegram, chat }, code) => {
      telegram.world.addUser({ id: 900, firstName: 'Echo', isBot: true })
      telegram.world.say({ from: 900, chat, text: code })
    },
  ],
  [
    'by an edit',
    ({ telegram, chat }, code) => {
      const message = telegram.world.say({ from: 555, chat, text: 'wait' })
      telegram.world.edit({ chat, message, text: code })
    },
  ],
  [
    'as a caption',
    ({ telegram, chat }, code) => {
      const photo = [{ file_id: 'p', file_unique_id: 'u', width: 9, height: 9 }]
      telegram.world.say({ from: 555, chat, text: '', extra: { text: undefined, photo, caption: `my ${code}` } })
    },
  ],
  [
    'as the name of a file',
    ({ telegram, chat }, code) => {
      const document = { file_id: 'd', file_unique_id: 'u', file_name: `${code}.txt` }
      telegram.world.say({ from: 555, chat, text: '', extra: { text: undefined, document } })
    },
  ],
  [
    'as the title of the group',
    ({ telegram, chat }, code) =>
      telegram.world.say({ from: 555, chat, text: '', extra: { text: undefined, new_chat_title: code } }),
  ],
  [
    'as where a word leads to',
    ({ telegram, chat }, code) => {
      const link = { type: 'text_link', offset: 0, length: 4, url: `https://t.me/parley_bot?start=${code}` }
      telegram.world.say({ from: 555, chat, text: 'here', extra: { entities: [link] } })
    },
  ],
  [
    'as where a button leads to',
    ({ telegram, chat }, code) => {
      const button = { text: 'here', url: `https://t.me/parley_bot?start=${code}` }
      telegram.world.say({ from: 555, chat, text: 'press', extra: { reply_markup: { inline_keyboard: [[button]] } } })
    },
  ],
  [
    'picked out of a message of another chat',
    ({ telegram, chat }, code) =>
      telegram.world.say({ from: 555, chat, text: 'look', extra: { quote: { text: code, position: 0 } } }),
  ],
  [
    'forwarded, also in a direct chat',
    ({ telegram }, code) => {
      const message = telegram.world.say({
        from: 555,
        chat: telegram.world.addChat({ type: 'group', title: 'Elsewhere', botStatus: 'none' }),
        text: `/start ${code}`,
      })
      telegram.world.forward({ from: 111, of: { chat: message.chat, message } })
    },
  ],
  [
    'as where a word of a forwarded message leads to, in a direct chat',
    ({ telegram }, code) => {
      const link = { type: 'text_link', offset: 0, length: 4, url: `https://t.me/parley_bot?start=${code}` }
      const chat = telegram.world.addChat({ type: 'group', title: 'Elsewhere', botStatus: 'none' })
      const message = telegram.world.say({ from: 555, chat, text: 'here', extra: { entities: [link] } })
      telegram.world.forward({ from: 111, of: { chat, message } })
    },
  ],
  [
    'as where a button of a message by an inline bot leads to, in a direct chat',
    ({ telegram }, code) => {
      telegram.world.addUser({ id: 900, firstName: 'Picker', username: 'gif', isBot: true })
      const button = { text: 'here', url: `https://t.me/parley_bot?start=${code}` }
      const extra = { reply_markup: { inline_keyboard: [[button]] } }
      telegram.world.say({ from: 111, via: 900, text: 'press', extra })
    },
  ],
  [
    'quoted out of another chat in a direct chat',
    ({ telegram }, code) => {
      const extra = { external_reply: { origin: { type: 'hidden_user', sender_user_name: 'Cy', date: 1 } } }
      telegram.world.say({ from: 111, text: 'look', extra: { ...extra, quote: { text: code, position: 0 } } })
    },
  ],
  [
    'said in a sentence in a direct chat',
    ({ telegram }, code) => telegram.world.say({ from: 111, text: `/start please: ${code}` }),
  ],
  [
    'written by an inline bot',
    ({ telegram }, code) => {
      telegram.world.addUser({ id: 900, firstName: 'Picker', username: 'gif', isBot: true })
      telegram.world.say({ from: 111, via: 900, text: `/start ${code}` })
    },
  ],
]

describe('the claim code', () => {
  it.each(SHOWN)('F-H12: %s is burnt and replaced', async (_, show) => {
    const log = new AwaitedLog()
    const house = await startHousehold({ routing: policy(), logger: log })
    const { telegram } = house
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
    const code = await codeOf(house)
    show(Object.assign(house, { chat }), code)
    await log.line(BURNT)
    expect(JSON.stringify(log.lines)).not.toContain(code)

    const fresh = await codeOf(house)
    expect(fresh).not.toBe(code)
    const after = telegram.ledger.mark()
    telegram.world.say({ from: 444, text: `/start ${code}` })
    await telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('not right') })
    telegram.world.say({ from: 111, text: `/start ${fresh}` })
    await telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('my owner now') })
  })

  it('stays good where another is typed, and is taken however it is written', async () => {
    const house = await startHousehold({ routing: policy() })
    const { telegram } = house
    const code = await codeOf(house)
    telegram.world.say({ from: 444, text: '/claim 00000-00000' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('not right') })
    expect(await codeOf(house)).toBe(code)
    telegram.world.say({ from: 111, text: `/claim ${code.toUpperCase().replace('-', ' ')}` })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('my owner now') })
  })
})

type Whole = Place & TwoMore & { readonly log: AwaitedLog }

/** Ada owns the agent by her Telegram id alone; nobody else may talk. */
async function threePlatforms(): Promise<Whole> {
  const [more, log] = [await startTwoMore(), new AwaitedLog()]
  const routing = policy({ people: [owner('ada', 'telegram:111')] })
  const house = Object.assign(await startHousehold({ routing, beside: more, logger: log }), more, { log })
  const { id: chat } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
  return Object.assign(house, { chat })
}

/** One that the bot does not see. */
function hiddenChannel({ world }: TwoMore['discord']): { readonly id: string } {
  const channel = world.addChannel({ guild: world.addGuild({ name: 'Away' }), name: 'away' })
  world.setAccess(channel, 'hidden')
  return channel
}

describe('a link code', () => {
  it.each<readonly [string, (of: Whole, code: string) => void]>([
    [
      'in a Telegram group',
      ({ telegram, chat }, code) => telegram.world.say({ from: 111, chat, text: `take ${code}` }),
    ],
    [
      'in a Discord channel',
      ({ discord, rooms }, code) => discord.world.say({ from: '555', channel: rooms.discord, text: `take ${code}` }),
    ],
    [
      'below a Discord message',
      ({ discord, rooms }, code) =>
        discord.world.say({
          from: '555',
          channel: rooms.discord,
          text: 'look',
          extra: { embeds: [{ description: code }] },
        }),
    ],
    [
      'below a Slack message',
      ({ slack, rooms }, code) =>
        slack.world.say({ from: 'U444', channel: rooms.slack, text: 'look', extra: { attachments: [{ text: code }] } }),
    ],
    [
      'as the name of a Discord thread',
      ({ discord, rooms }, code) =>
        discord.world.say({ from: '555', channel: rooms.discord, text: code, extra: { type: 18 } }),
    ],
    [
      'forwarded on Discord',
      ({ discord, rooms }, code) => {
        const { id: channel } = hiddenChannel(discord)
        const message = discord.world.say({ from: '555', channel, text: `x ${code}` })
        discord.world.forward({ from: '555', channel: rooms.discord, of: { channel, message } })
      },
    ],
    [
      'in a Slack thread',
      ({ slack, rooms }, code) => {
        const thread = slack.world.say({ from: 'U444', channel: rooms.slack, text: 'hm' })
        slack.world.say({ from: 'U444', channel: rooms.slack, thread, text: `take ${code}` })
      },
    ],
    [
      'as the topic of a Slack channel',
      ({ slack, rooms }, code) =>
        slack.world.say({
          from: 'U444',
          channel: rooms.slack,
          text: `set the topic: ${code}`,
          extra: { subtype: 'channel_topic' },
        }),
    ],
    [
      'shared on Slack',
      ({ slack, rooms }, code) => {
        const channel = slack.world.addChannel({ name: 'away', members: ['U444'], botJoined: false })
        const message = slack.world.say({ from: 'U444', channel, text: `x ${code}` })
        slack.world.share({
          from: 'U444',
          channel: rooms.slack,
          of: { channel, message },
          text: 'look',
        })
      },
    ],
    [
      'below a message that is forwarded to us on Discord',
      ({ discord }, code) => {
        const { id: channel } = hiddenChannel(discord)
        const extra = { embeds: [{ description: code }] }
        const message = discord.world.say({ from: '555', channel, text: 'look', extra })
        discord.world.forward({ from: '555', of: { channel, message } })
      },
    ],
    [
      'in the link of a message that is shared with us on Slack',
      ({ slack }, code) => {
        const channel = slack.world.addChannel({ name: 'away', members: ['U444'], botJoined: false })
        const message = slack.world.say({ from: 'U444', channel, text: 'x' })
        const attachments = [{ is_share: true, text: 'x', title: 'here', title_link: `https://a.example/${code}` }]
        slack.world.say({ from: 'U444', text: `look ${message.ts}`, extra: { attachments } })
      },
    ],
    [
      'in the direct chat where it was made, in a sentence',
      ({ telegram }, code) => telegram.world.say({ from: 111, text: `I type ${code} there?` }),
    ],
  ])('F-H12: shown %s is worth nothing, and who asked for it is told', async (_, show) => {
    const of = await threePlatforms()
    const { telegram, discord } = of
    telegram.world.say({ from: 111, text: '/link' })
    const shown = await telegram.ledger.nextFromBot('sent', {
      where: ({ text }) => text.includes('Within ten minutes'),
    })
    const code = /\b(\w{5}-\w{5})\b/.exec(shown.text)?.[1] ?? ''
    const after = telegram.ledger.mark()
    show(of, code)
    expect((await of.log.line(BURNT)).fields).toMatchObject({ code: 'link' })
    const told = await telegram.ledger.nextFromBot('sent', {
      after,
      where: ({ text }) => text.includes('Send me `/link`') || text.includes('Send me /link'),
    })
    expect(told.chatId).toBe(111)
    discord.world.say({ from: '222', text: `/link ${code}` })
    await discord.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes('not valid'))
  })

  it('quoted by a reply in the direct chat it stays good', async () => {
    const of = await threePlatforms()
    const { telegram, discord } = of
    telegram.world.say({ from: 111, text: '/link' })
    const shown = await telegram.ledger.nextFromBot('sent', {
      where: ({ text }) => text.includes('Within ten minutes'),
    })
    const code = /\b(\w{5}-\w{5})\b/.exec(shown.text)?.[1] ?? ''
    telegram.world.say({ from: 111, text: 'thanks', replyTo: shown.messageId })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('echo') })
    discord.world.say({ from: '222', text: `/link ${code}` })
    await discord.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes('You are ada'))
  })
})
