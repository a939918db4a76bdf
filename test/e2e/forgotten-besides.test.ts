import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'

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

it('S41: nothing is left of a recording whose turn was stopped while it was being heard', async () => {
  const audio = await startOpenAiServer({ apiKey: 'key' })
  onTestFinished(audio.close)
  const transcribe = { model: 'whisper-1' }
  const settings = { baseUrl: audio.baseUrl, apiKey: new Secret('key'), limits: DEFAULT_AUDIO_LIMITS, transcribe }
  const { home, world, say } = await forgettingHouse({ config: { audio: settings } })
  const hold = audio.faults.add({ action: { kind: 'hold', when: 'before' } })
  const bytes = recordingOf(`it is ${MARK}`)
  const extra = fileFields(world, { as: 'voice', mime: 'audio/ogg', bytes, more: { duration: 12 } })
  world.say({ from: 111, text: '', extra })
  await hold.reached
  expect(holding(home.dataDir, MARK)).not.toEqual([])
  expect(await say('/stop')).toBe('Stopped.')
  hold.release()
  expect(await say('/forget last')).toMatch(/^Forgotten: /)
  expect(holding(home.dataDir, MARK)).toEqual([])
})
