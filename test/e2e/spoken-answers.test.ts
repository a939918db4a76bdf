import { describe, expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS, type VoiceMode } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { saidInRecording } from '../../src/rehearsal/recordings.ts'
import { startHousehold } from './household.ts'
import { startTwoMore } from './three-platforms.ts'

/** `long` is answered with what makes several messages, anything else with a few words. */
const script: Script = (request) =>
  textReply(lastUserText(request).endsWith('long') ? `# The story\n\n${LONG}` : 'All is *well*.')

/** Several messages on every platform. */
const LONG = 'Once upon a time. '.repeat(600).trim()

async function household(voice: VoiceMode, session: object = {}) {
  const audio = await startOpenAiServer({ apiKey: 'sk-voice' })
  onTestFinished(audio.close)
  const more = await startTwoMore({ streaming: false })
  const house = await startHousehold({
    // On a busy machine the answer would begin to grow in the chat before all of it is known to be long.
    ...{ script, beside: more, streaming: false },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: ['time'], voice }],
      audio: {
        ...{ baseUrl: audio.baseUrl, apiKey: new Secret('sk-voice'), limits: DEFAULT_AUDIO_LIMITS },
        speak: { model: 'tts-1', voice: 'alloy', format: 'opus' },
      },
      session: { queue: { max: 100, busy: 'queue' }, ...session },
    },
  })
  const { world, ledger } = house.telegram
  const say = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 111, text })
    return ledger.nextFromBot('sent', { after })
  }
  const shown = () => world.messages(111, { by: 'bot' }).map(({ message }) => message)
  return { house, audio, ...more, say, shown }
}

describe('an answer that is spoken', () => {
  it('is a voice note on Telegram, and the text alone is on record', async () => {
    const { say, shown, audio, house } = await household('always')
    const { file } = await say('how are you?')
    expect(saidInRecording(file?.bytes ?? Buffer.alloc(0))).toBe('All is well.')
    expect(shown()).toMatchObject([{ voice: { mime_type: 'audio/ogg' } }])
    expect(shown()[0]).not.toHaveProperty('caption')
    expect(audio.ledger.all(({ kind }) => kind === 'spoke')).toHaveLength(1)
    await say('and now?')
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).toContain('All is *well*.')
  })

  it('stays a text where the endpoint fails, and is sent once', async () => {
    const { say, shown, audio } = await household('always')
    audio.faults.add({ action: { kind: 'answer', when: 'before', status: 503, body: 'busy' } })
    expect((await say('how are you?')).text).toBe('All is well.')
    expect(shown()).toHaveLength(1)
  })

  it('stays a text where what was spoken is no recording', async () => {
    const { say, audio } = await household('always')
    audio.faults.add({
      action: { kind: 'answer', when: 'before', status: 200, body: 'I am no sound at all, but text.' },
    })
    expect((await say('how are you?')).text).toBe('All is well.')
  })

  it('becomes a text where the person takes no voice notes', async () => {
    const { say, shown, house } = await household('always')
    const description = 'Bad Request: VOICE_MESSAGES_FORBIDDEN'
    const body = JSON.stringify({ ok: false, error_code: 400, description })
    house.telegram.faults.add({ method: 'sendVoice', action: { kind: 'answer', when: 'before', status: 400, body } })
    expect((await say('how are you?')).text).toBe('All is well.')
    expect(shown()).toHaveLength(1)
  })

  it('stays a text where it is too long for one message', async () => {
    const { say, audio } = await household('always')
    expect((await say('tell me something long')).text).toMatch(/^The story/)
    expect(audio.ledger.all(({ kind }) => kind === 'spoke')).toHaveLength(0)
  })

  it('is so where /voice says it, and not where nobody does', async () => {
    const { say } = await household('never')
    expect((await say('how are you?')).text).toBe('All is well.')
    await say('/voice always')
    expect((await say('how are you?')).file?.name).toBe('answer.ogg')
  })

  it('is a recording on Discord and Slack', async () => {
    const { discord, slack } = await household('always')
    discord.world.say({ from: '222', text: 'how are you?' })
    slack.world.say({ from: 'U333', text: 'how are you?' })
    const { message } = await discord.ledger.nextFromBot('sent')
    expect(message).toMatchObject({ content: '', attachments: [{ filename: 'answer.ogg' }] })
    const shared = await slack.ledger.nextFromBot('sent')
    expect(shared.message).toMatchObject({ text: '', files: [{ name: 'answer.ogg' }] })
  })
})

describe('a long answer', () => {
  const WHOLE = `# The story\n\n${LONG}`

  it('goes out as one file with its beginning, where that is set, and as messages where it is not', async () => {
    const { say, shown } = await household('never', { answerAsFile: 1 })
    const { file, text } = await say('tell me something long')
    expect(text).toBe('The story\n\n(The whole of it is in the file.)')
    expect({ name: file?.name, bytes: file?.bytes.toString() }).toEqual({ name: 'answer.md', bytes: WHOLE })
    expect(shown()).toHaveLength(1)
    const other = await household('never')
    expect(await other.say('tell me something long')).not.toHaveProperty('file')
  })

  it('goes out on Discord and Slack as one file as well', async () => {
    const { discord, slack } = await household('never', { answerAsFile: 1 })
    discord.world.say({ from: '222', text: 'tell me something long' })
    slack.world.say({ from: 'U333', text: 'tell me something long' })
    const onDiscord = await discord.ledger.nextFromBot('sent')
    expect(onDiscord.message).toMatchObject({ attachments: [{ filename: 'answer.md' }] })
    expect(onDiscord.text).toMatch(/^The story/)
    const files = discord.ledger.calls('createMessage').flatMap((call) => call.files ?? [])
    expect(files.map(({ bytes }) => bytes.toString())).toEqual([WHOLE])
    const onSlack = await slack.ledger.nextFromBot('sent')
    expect(onSlack.message).toMatchObject({ files: [{ name: 'answer.md' }] })
    expect(onSlack.text).toMatch(/^The story/)
    expect([...slack.world.uploads.values()].map(({ content }) => content?.bytes.toString())).toEqual([WHOLE])
  })
})
