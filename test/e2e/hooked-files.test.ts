import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { withDatabase } from '../store/temp-database.ts'
import { startHousehold } from './household.ts'

const KEY = 'sk-voice'
/** Answers with the text it is given, without long numbers, and says what it was of. */
const MASK = `let body = ''
process.stdin.on('data', (chunk) => { body += chunk }).on('end', () => {
  const { text, of = 'words' } = JSON.parse(body)
  console.log(JSON.stringify({ text: text.replace(/\\d{4,}/g, '[number of ' + of + ']') }))
})`

type Sent = Parameters<typeof fileFields>[1]

async function masked() {
  const audio = await startOpenAiServer({ apiKey: KEY })
  onTestFinished(audio.close)
  const at = { kind: 'command', command: process.execPath, args: ['-e', MASK], env: {}, folder: '/' } as const
  const house = await startHousehold({
    ...{ script: () => textReply('seen'), streaming: false },
    config: {
      hooks: [{ name: 'mask', on: ['before_save'], at, timeoutMs: 30_000 }],
      audio: {
        ...{ baseUrl: audio.baseUrl, apiKey: new Secret(KEY), limits: DEFAULT_AUDIO_LIMITS },
        transcribe: { model: 'whisper-1' },
      },
    },
  })
  const { world, ledger } = house.telegram
  const send = async (extra: Readonly<Record<string, unknown>>): Promise<string> => {
    const after = ledger.mark()
    world.say({ from: 111, text: '', extra })
    await ledger.nextFromBot('sent', { after })
    return JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages.at(-1))
  }
  const events = (): string =>
    withDatabase(join(house.dataDir, 'parley.db'), (database) =>
      JSON.stringify(database.prepare('SELECT data FROM events').all()),
    )
  return { send, file: (sent: Sent) => fileFields(world, sent), events }
}

it('R8: a hook changes what is stored and shown of a file, a recording and a contact, as of any words', async () => {
  const { send, file, events } = await masked()
  const text = { as: 'document', name: 'list.txt', bytes: Buffer.from('the code is 5551234') } as const
  expect(await send(file(text))).toContain('the code is [number of file]')
  const note: Sent = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf('call 7778888'), more: { duration: 12 } }
  expect(await send(file(note))).toContain('call [number of recording]')
  const contact = { phone_number: '9990000', first_name: 'Bob' }
  expect(await send({ contact })).toContain('Bob, number of enclosed')
  expect(events()).not.toMatch(/5551234|7778888|9990000/)
})
