import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { type HouseholdOptions, recorded } from './household.ts'
import { doing } from './obedient.ts'

const MARK = 'zq9canary-4711'

it.each([
  [[], '/forget chat yes'],
  // The conversation that was read is not the current one any more.
  [['/new'], '/forget me yes'],
])('S41: a side question is not answered out of what is forgotten meanwhile (%j, %j)', async (before, forget) => {
  const gate = createGate()
  const script: Script = (request) =>
    JSON.stringify(request.messages).includes('slowly')
      ? { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate }] }
      : textReply('fine')
  const { home, world, ledger, say } = await forgettingHouse({ script })
  await say(`it is ${MARK}`)
  world.say({ from: 111, text: '/side slowly, what is it?' })
  await gate.reached
  for (const text of before) await say(text)
  expect(await say(forget)).toMatch(/^Forgotten: /)
  const after = ledger.mark()
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { after })
  expect(text).toBe('What was said here was forgotten while I looked at it: please ask again.')
  await recorded(home)
  expect(holding(home.dataDir, MARK)).toEqual([])
})

async function hearingHouse(options: HouseholdOptions = {}) {
  const audio = await startOpenAiServer({ apiKey: 'key' })
  onTestFinished(audio.close)
  const transcribe = { model: 'whisper-1' }
  const settings = { baseUrl: audio.baseUrl, apiKey: new Secret('key'), limits: DEFAULT_AUDIO_LIMITS, transcribe }
  const house = await forgettingHouse({ ...options, config: { audio: settings } })
  const { world } = house
  const note = (said: string) => {
    const file = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf(said), more: { duration: 3 } } as const
    return world.say({ from: 111, text: '', extra: fileFields(world, file) })
  }
  return { ...house, audio, note }
}

it.each(['do sessions_history {"sessionKey":"telegram:direct:111"}', 'do session_search {"query":"qum"}'])(
  'S41: nothing is left of the few words of a voice note that a tool has shown (%s)',
  async (look) => {
    const { home, note, answered, say } = await hearingHouse({ script: doing })
    let replyTo = 0
    await answered(() => {
      replyTo = note('qumj').message_id
    }, 111)
    expect(await say(look)).toBe('fine')
    expect(await say('/forget', { replyTo })).toMatch(/^Forgotten: .*1 result of a tool/)
    expect(holding(home.dataDir, 'qumj')).toEqual([])
  },
)

it('S41: nothing is left of a recording whose turn was stopped while it was being heard', async () => {
  const { home, audio, note, say } = await hearingHouse()
  const hold = audio.faults.add({ action: { kind: 'hold', when: 'before' } })
  note(`it is ${MARK}`)
  await hold.reached
  expect(holding(home.dataDir, MARK)).not.toEqual([])
  expect(await say('/stop')).toBe('Stopped.')
  hold.release()
  expect(await say('/forget last')).toMatch(/^Forgotten: /)
  expect(holding(home.dataDir, MARK)).toEqual([])
})
