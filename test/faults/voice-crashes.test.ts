import { describe, expect, it } from 'vitest'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf, saidInRecording } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const script: Script = (request) =>
  textReply(
    JSON.stringify(request.messages.at(-1)).includes('[voice note, 0:03] buy milk') ? 'You want milk.' : 'What?',
  )

describe.concurrent('a kill around a voice note and its spoken answer', CASE, () => {
  const cases = [
    ['CP32-transcript-kept', 1, [1]],
    ['CP30-files-recorded', 1, [1]],
    ['CP10-outbox-planned', 1, [0, 1]],
    // The answer may be there: it is repeated as a text that says so.
    ['CP12-bytes-written', 1, [0, 1]],
  ] as const
  for (const [point, heard, spoken] of rounds(cases, 3)) {
    it(`F-A14: ${point}: it is transcribed once, and answered once or with the mark of a repeat`, async (test) => {
      const audio = await startOpenAiServer({ keyless: true })
      test.onTestFinished(audio.close)
      const scene = await startScene(test, {
        ...{ script, voice: 'when-spoken-to' },
        audio: {
          ...{ baseUrl: audio.baseUrl, limits: DEFAULT_AUDIO_LIMITS, transcribe: { model: 'whisper-1' } },
          speak: { model: 'tts-1', voice: 'alloy', format: 'opus' },
        },
      })
      const { world, ledger } = scene.telegram
      await scene.daemon.start(point)
      const note = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf('buy milk'), more: { duration: 3 } } as const
      world.say({ from: ADA, text: '', extra: fileFields(world, note) })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      world.say({ from: ADA, text: 'goodbye' })
      await scene.sent('What?')
      await scene.finish()
      const sent = ledger.entries.flatMap((entry) => (entry.kind === 'message' && entry.botId !== null ? [entry] : []))
      const notes = sent.flatMap(({ file }) => (file ? [saidInRecording(file.bytes)] : []))
      expect(spoken).toContain(notes.length)
      expect(notes.every((said) => said === 'You want milk.')).toBe(true)
      const texts = sent.filter(({ file }) => file === undefined).map(({ text }) => text)
      expect(texts.filter((text) => text.replace('(repeat) ', '') === 'You want milk.').length).toBeLessThanOrEqual(1)
      expect(notes.length + texts.length).toBeGreaterThanOrEqual(2)
      expect(audio.ledger.count(({ kind }) => kind === 'heard')).toBe(heard)
    })
  }
})
