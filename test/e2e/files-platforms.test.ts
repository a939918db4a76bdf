import { describe, expect, it } from 'vitest'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { png } from '../fakes/files.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startSlackHousehold } from './slack-household.ts'

const seen: Script = () => textReply('seen')
const PICTURE = png(4, 4)
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: Buffer.from(PICTURE).toString('base64') },
}

async function discordHouse() {
  const started = await startDiscordHousehold({ script: seen, settings: { streaming: false } })
  const { discord, anthropic } = started
  const sent = (act: () => void) => {
    const mark = discord.ledger.mark()
    act()
    return discord.ledger.nextFromBot('sent', { after: mark })
  }
  const shown = () => anthropic.ledger.requests().at(-1)?.messages.at(-1)?.content
  return { ...started, sent, shown }
}

describe('a file that comes with a message on Discord', () => {
  it('R9: a picture is shown and a text quoted, of one message', async () => {
    const { discord, sent, shown } = await discordHouse()
    const { world } = discord
    const files = [
      world.attach({ bytes: PICTURE, name: 'a.png', mime: 'image/png' }),
      world.attach({ bytes: Buffer.from('hello'), name: 'b.txt', mime: 'image/png' }),
    ]
    await sent(() => world.say({ from: '222', text: 'look', attachments: files }))
    expect(shown()).toMatchObject([
      { type: 'text', text: expect.stringContaining('look\n[attached: a.png]\n[attached: b.txt]') },
      image,
      { type: 'text', text: '[attached text of b.txt]\n> hello' },
    ])
  })

  it('F-G07: a link that expired before the turn began is asked for anew', async () => {
    const { discord, sent, shown } = await discordHouse()
    const { world } = discord
    world.linksHoldMs = -60_000
    const file = world.attach({ bytes: PICTURE, name: 'a.png' })
    world.linksHoldMs = 60_000
    await sent(() => world.say({ from: '222', text: 'look', attachments: [file] }))
    expect(JSON.stringify(shown())).toContain('"type":"image"')
  })

  it('F-I09: a link that leads elsewhere is not followed, and no message is unanswered for it', async () => {
    const { discord, sent, shown } = await discordHouse()
    const { world } = discord
    const file = { ...world.attach({ bytes: PICTURE, name: 'a.png' }), id: '5', url: 'http://169.254.169.254/latest' }
    await sent(() => world.say({ from: '222', text: 'look', attachments: [file] }))
    expect(JSON.stringify(shown())).toContain('[attached: a.png, 68 B, not shown: it lies outside of the platform]')
  })

  it('R9: the file of a forwarded message is fetched by the message that forwards it', async () => {
    const { discord, channel, sent, shown } = await discordHouse()
    const { world } = discord
    const file = world.attach({ bytes: PICTURE, name: 'a.png' })
    const original = world.say({ from: '444', channel, text: 'mine', attachments: [file] })
    await sent(() => world.forward({ from: '222', of: { channel, message: original } }))
    expect(JSON.stringify(shown())).toContain('"type":"image"')
  })
})

it('S26: a sticker and a poll on Discord are named in words, none of which passes for a label', async () => {
  const { discord, sent, shown } = await discordHouse()
  const say = (extra: Readonly<Record<string, unknown>>) =>
    sent(() => discord.world.say({ from: '222', text: '', extra }))
  await say({ sticker_items: [{ id: '1', name: 'Wave]\n[Ada', format_type: 1 }] })
  expect(JSON.stringify(shown())).toContain('[attached sticker: Wave Ada]')
  const answers = ['A', 'B'].map((text, at) => ({ answer_id: at + 1, poll_media: { text } }))
  await say({ poll: { question: { text: 'Lunch?' }, answers } })
  expect(JSON.stringify(shown())).toContain('[attached poll: Lunch?, A / B]')
})

it('R9: a reply to a forwarded picture shows it, for people ask about it that way', async () => {
  const { discord, channel, sent, shown } = await discordHouse()
  const { world } = discord
  const file = world.attach({ bytes: PICTURE, name: 'a.png' })
  const original = world.say({ from: '444', channel, text: 'mine', attachments: [file] })
  let forward = original
  await sent(() => (forward = world.forward({ from: '222', of: { channel, message: original } })))
  await sent(() => world.say({ from: '222', text: 'what is this?', replyTo: forward }))
  expect(JSON.stringify(shown())).toContain('[attached: a.png, of the message replied to]')
  expect(JSON.stringify(shown())).toContain('"type":"image"')
})

async function slackHouse(options: { readonly scopes?: readonly string[] } = {}) {
  const started = await startSlackHousehold({ script: seen })
  const { slack, anthropic } = started
  if (options.scopes !== undefined) slack.app.scopes = options.scopes
  const answered = async (act: () => void): Promise<void> => {
    const before = anthropic.ledger.requests().length
    const mark = slack.ledger.mark()
    act()
    await slack.ledger.nextFromBot('sent', { after: mark })
    expect(anthropic.ledger.requests().length).toBeGreaterThan(before)
  }
  const shown = () => anthropic.ledger.requests().at(-1)?.messages.at(-1)?.content
  return { ...started, answered, shown }
}

describe('a file that comes with a message on Slack', () => {
  it('R9: a picture is shown to the model; the token opens it and is in nothing else', async () => {
    const { slack, answered, shown } = await slackHouse()
    const { world } = slack
    const files = [world.attach({ bytes: PICTURE, name: 'a.png', mime: 'image/png' })]
    await answered(() => world.say({ from: 'U333', text: 'look', extra: { subtype: 'file_share', files } }))
    expect(shown()).toMatchObject([{ type: 'text', text: expect.stringContaining('[attached: a.png]') }, image])
  })

  it.each(['', 'look'])(
    'R9: the file of a message that somebody shares is fetched too, with the words "%s"',
    async (text) => {
      const { slack, answered, shown } = await slackHouse()
      const { world } = slack
      const channel = world.addChannel({ name: 'club', members: ['U333', 'U444'] })
      const files = [world.attach({ bytes: PICTURE, name: 'a.png', mime: 'image/png' })]
      const extra = { subtype: 'file_share', files }
      const { ts } = world.say({ from: 'U444', channel, text: '', extra })
      await answered(() => world.share({ from: 'U333', of: { channel, message: ts }, text }))
      expect(shown()).toMatchObject([{ type: 'text', text: expect.stringContaining('[attached: a.png]') }, image])
    },
  )

  it('F-G07: a bot without the right to read files says which it needs', async () => {
    const { slack, answered, shown } = await slackHouse()
    const { world, app } = slack
    app.scopes = app.scopes.filter((scope) => scope !== 'files:read')
    const files = [world.attach({ bytes: PICTURE, name: 'a.png', mime: 'image/png' })]
    await answered(() => world.say({ from: 'U333', text: 'look', extra: { subtype: 'file_share', files } }))
    expect(JSON.stringify(shown())).toContain('not shown: the bot may not read it; the app needs the scope files:read')
  })

  it('F-G07: one that the platform cannot give for a moment is asked for again and shown', async () => {
    const { slack, answered, shown } = await slackHouse()
    const { world, faults } = slack
    const body = JSON.stringify({ ok: false, error: 'service_unavailable' })
    faults.add({ method: 'files.info', action: { kind: 'answer', when: 'before', status: 200, body } })
    const files = [world.attach({ bytes: PICTURE, name: 'a.png', mime: 'image/png' })]
    await answered(() => world.say({ from: 'U333', text: 'look', extra: { subtype: 'file_share', files } }))
    expect(JSON.stringify(shown())).toContain('"type":"image"')
  })

  it('F-G07: one that was deleted meanwhile is named', async () => {
    const { slack, answered, shown } = await slackHouse()
    const { world } = slack
    const files = [world.attach({ bytes: PICTURE, name: 'a.png', mime: 'image/png' })]
    world.files.clear()
    await answered(() => world.say({ from: 'U333', text: 'look', extra: { subtype: 'file_share', files } }))
    expect(JSON.stringify(shown())).toContain('not shown: the platform does not have it any more')
  })
})
