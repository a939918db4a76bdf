import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { DOT } from '../fakes/pictures.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { startTwoMore } from './three-platforms.ts'

/** `send {…}` sends a file with these arguments; `look` asks for a picture, `pass it on` sends what was shown. */
const script: Script = (request) => {
  const said = lastUserText(request)
  const result = toolResult(request)
  const handle = /its handle: (media:\/\/sha256-[0-9a-f]{12})/.exec(JSON.stringify(request.messages.at(-1)))?.[1]
  if (handle !== undefined) return tool('send_file', { file: handle, caption: 'as asked' })
  if (result !== undefined) return textReply(`it says: ${result}`)
  const args = /send (\{.*\})$/.exec(said)?.[1]
  if (args !== undefined) return tool('send_file', JSON.parse(args))
  return said.endsWith('look') ? tool('photograph', {}) : textReply('fine')
}

function tool(name: string, input: object) {
  return { blocks: [{ type: 'tool_use' as const, name, input: { ...input } }] }
}

/** A camera; what it shows is the picture of the test. */
function camera(bytes: Uint8Array): Tool {
  return {
    spec: { name: 'photograph', description: 'Takes a picture.', parameters: { type: 'object', properties: {} } },
    class: 'pure',
    reach: 'inside',
    run: async (_, { keep }) => ({ content: [{ type: 'text', text: 'Here.' }, await keep(bytes, 'garden "1".png')] }),
  }
}

async function household(picture: Uint8Array = DOT) {
  const more = await startTwoMore()
  const house = await startHousehold({
    ...{ script, streaming: false, beside: more },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['files', 'camera'] }],
    },
    tools: { camera: [camera(picture)] },
  })
  const { world, ledger } = house.telegram
  const say = (text: string): void => void world.say({ from: 111, text })
  const heard = async (words: string): Promise<string> =>
    (await ledger.nextFromBot('sent', { where: ({ text, chatId }) => chatId === 111 && text.includes(words) })).text
  const file = async () => (await ledger.nextFromBot('sent', { where: (entry) => entry.file !== undefined })).file
  return { house, ...more, ledger, say, heard, file }
}

const NOTES = JSON.stringify({ name: 'größe "1".md', text: '# Größe\n\nLong.', caption: 'the *notes*' })

describe('a file that the agent sends', () => {
  it('is a text of its own as a document, with its caption, once, before the answer', async () => {
    const { say, heard, ledger, file, house } = await household()
    say(`send ${NOTES}`)
    expect(await heard('it says')).toContain('On its way: [file: größe 1.md, text/plain')
    const sent = await file()
    expect({ name: sent?.name, text: sent?.bytes.toString() }).toEqual({ name: 'größe 1.md', text: '# Größe\n\nLong.' })
    expect(house.telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message)).toMatchObject([
      { caption: 'the notes', caption_entities: [{ type: 'italic' }], document: { file_name: 'größe 1.md' } },
      { text: expect.stringContaining('it says') },
    ])
    expect(ledger.calls('sendDocument')).toHaveLength(1)
  })

  it('may be a picture that a tool has shown, by its handle, and is shown as one', async () => {
    const { say, heard, file, ledger } = await household()
    say('look')
    expect(await heard('it says')).toContain('[image: garden 1.png, image/png, 70 B]')
    expect((await file())?.bytes).toEqual(Buffer.from(DOT))
    expect(ledger.calls('sendPhoto')).toHaveLength(1)
  })

  it('is a document where the platform does not show such a picture', async () => {
    const wide = Buffer.from(DOT)
    wide.writeUInt32BE(30_000, 16)
    const { say, heard, file, ledger } = await household(wide)
    say('look')
    await heard('it says')
    expect((await file())?.bytes).toEqual(wide)
    expect([ledger.calls('sendPhoto').length, ledger.calls('sendDocument').length]).toEqual([1, 1])
  })

  it.each([
    ['{"name":"a.md"}', 'Give either text or file'],
    ['{"name":"a.md","text":"x","file":"media://x"}', 'Give either text or file'],
    ['{"text":"x"}', 'A text needs a name'],
    ['{"name":"a.md","text":""}', 'text must not be empty'],
    ['{"file":"/etc/passwd"}', 'There is no such file in this conversation'],
    [`{"file":"media://sha256-${'0'.repeat(64)}"}`, 'There is no such file in this conversation'],
  ])('%s is answered in words, and nothing is sent', async (args, answer) => {
    const { say, heard, ledger } = await household()
    say(`send ${args}`)
    expect(await heard('it says')).toContain(answer)
    expect(ledger.calls('sendDocument')).toHaveLength(0)
  })

  it('is never one of another conversation', async () => {
    const { say, heard, house, ledger } = await household()
    say('look')
    const shown = JSON.stringify(house.anthropic?.ledger.requests())
    await heard('it says')
    const handle = /media:\/\/sha256-[0-9a-f]{12}/.exec(shown + JSON.stringify(house.anthropic?.ledger.requests()))?.[0]
    const before = ledger.mark()
    house.telegram.world.addChat({ type: 'supergroup', title: 'Family', id: -1001, members: [111] })
    house.telegram.world.say({ from: 111, chat: -1001, text: `@parley_bot send {"file":"${handle}"}` })
    const { text } = await ledger.nextFromBot('sent', { after: before, where: ({ chatId }) => chatId === -1001 })
    expect(text).toContain('There is no such file')
  })

  it('whose caption is a silence marker is sent without it', async () => {
    const { say, heard, house } = await household()
    say('send {"name":"a.md","text":"x","caption":"<NO_REPLY>"}')
    await heard('it says')
    const [first] = house.telegram.world.messages(111, { by: 'bot' })
    expect(first?.message).toMatchObject({ document: { file_name: 'a.md' } })
    expect(first?.message).not.toHaveProperty('caption')
  })

  it('with a long caption has it below', async () => {
    const { say, heard, house } = await household()
    say(`send ${JSON.stringify({ name: 'a.md', text: 'x', caption: 'long '.repeat(300) })}`)
    await heard('it says')
    const texts = house.telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message)
    expect(texts).toMatchObject([{ document: {} }, { text: 'long '.repeat(300).trim() }, {}])
    expect(texts[0]).not.toHaveProperty('caption')
  })

  it('that the platform refuses is told in words, in the chat and to the agent', async () => {
    const { say, heard, house } = await household()
    house.telegram.faults.add({
      method: 'sendDocument',
      action: {
        kind: 'answer',
        when: 'before',
        status: 400,
        body: '{"ok":false,"error_code":400,"description":"Bad Request: not enough rights to send documents to the chat"}',
      },
    })
    say(`send ${NOTES}`)
    expect(await heard('could not be sent')).toBe(
      'the notes\n\n[file: größe 1.md, text/plain, 16 B] could not be sent here: 400: Bad Request: not enough rights to send documents to the chat',
    )
    await heard('it says')
    say('and?')
    await heard('fine')
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1))).toContain('did not arrive')
  })

  it('goes out on Discord as an attachment, with its caption, once', async () => {
    const { discord, rooms } = await household()
    discord.world.say({ from: '222', channel: rooms.discord, text: `<@${discord.world.bot.id}> send ${NOTES}` })
    const { message, text } = await discord.ledger.nextFromBot('sent', { where: (entry) => isFileOf(entry.message) })
    expect({ text, name: message.attachments[0]?.filename, size: message.attachments[0]?.size }).toEqual({
      text: 'the *notes*',
      name: 'größe_1.md',
      size: 16,
    })
    const sent = discord.ledger.calls('createMessage').flatMap(({ files = [] }) => files)
    expect(sent.map(({ bytes }) => bytes.toString())).toEqual(['# Größe\n\nLong.'])
  })

  it('goes out on Slack in its three steps, with its caption, in the thread, once', async () => {
    const { slack, rooms } = await household()
    const asked = slack.world.say({ from: 'U333', channel: rooms.slack, text: `<@U0BOT> send ${NOTES}` })
    const { message, thread, text } = await slack.ledger.nextFromBot('sent', {
      where: (entry) => Array.isArray(entry.message.files),
    })
    expect({ thread, text }).toEqual({ thread: asked.ts, text: 'the _notes_' })
    expect(message.files).toMatchObject([{ name: 'größe 1.md', size: 16 }])
    expect([...slack.world.uploads.values()].map(({ content }) => content?.bytes.toString())).toEqual([
      '# Größe\n\nLong.',
    ])
    await slack.ledger.nextFromBot('sent', { where: (entry) => entry.text.includes('it says') })
  })

  it('goes out on three platforms at a time, from one process', async () => {
    const { discord, slack, rooms, say, file } = await household()
    const mark = { discord: discord.ledger.mark(), slack: slack.ledger.mark() }
    for (const [at, text] of [one('Telegram'), one('Discord'), one('Slack')].entries()) {
      if (at === 0) say(text)
      if (at === 1)
        discord.world.say({ from: '222', channel: rooms.discord, text: `<@${discord.world.bot.id}> ${text}` })
      if (at === 2) slack.world.say({ from: 'U333', channel: rooms.slack, text: `<@U0BOT> ${text}` })
    }
    const onDiscord = discord.ledger.nextFromBot('sent', {
      after: mark.discord,
      where: (entry) => isFileOf(entry.message),
    })
    const onSlack = slack.ledger.nextFromBot('sent', {
      after: mark.slack,
      where: (entry) => Array.isArray(entry.message.files),
    })
    const [telegram] = await Promise.all([file(), onDiscord, onSlack])
    expect(telegram?.bytes.toString()).toBe('for Telegram')
    const sent = discord.ledger.calls('createMessage').flatMap(({ files = [] }) => files)
    expect(sent.map(({ bytes }) => bytes.toString())).toEqual(['for Discord'])
    const uploads = [...slack.world.uploads.values()].map(({ content }) => content?.bytes.toString())
    expect(uploads).toEqual(['for Slack'])
  })

  it('is not sent on Slack without the scope, which is told in words with its caption', async () => {
    const { slack, rooms } = await household()
    slack.app.scopes = slack.app.scopes.filter((scope) => scope !== 'files:write')
    slack.world.say({ from: 'U333', channel: rooms.slack, text: `<@U0BOT> send ${NOTES}` })
    const { text } = await slack.ledger.nextFromBot('sent')
    expect(text).toBe(
      'the notes\n\n[file: größe 1.md, text/plain, 16 B] could not be sent here: missing_scope: files:write',
    )
  })

  it('that is too large for its platform is told to the agent', async () => {
    const { discord, rooms, house } = await household(Uint8Array.from({ length: 10_500_000 }, (_, at) => DOT[at] ?? 0))
    discord.world.say({ from: '222', channel: rooms.discord, text: `<@${discord.world.bot.id}> look` })
    await discord.ledger.nextFromBot('sent')
    expect(JSON.stringify(house.anthropic?.ledger.requests())).toContain(
      'The file has 10.5 MB; Discord takes 10.5 MB at most',
    )
  })
})

/** Asks for a file that says for which platform it is. */
function one(platform: string): string {
  return `send ${JSON.stringify({ name: 'a.md', text: `for ${platform}` })}`
}

function isFileOf({ attachments }: { readonly attachments: readonly object[] }): boolean {
  return attachments.length > 0
}
