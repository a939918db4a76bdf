import { paintDisc } from '../paint.ts'
import { recordingOf } from '../recordings.ts'
import { type Line, type Stage, sentAfter } from './stage.ts'

const SECRET = 'remember that Bo gets a kite'
const KNOWN = '@parley remember that I bake the cake'
const QUESTION = 'what do you remember of me?'

/** A picture, a voice note, and one question asked in a group and in private, answered by what each may know. */
export async function pictureVoiceAndMemory(stage: Stage): Promise<void> {
  const photo = { as: 'photo', mime: 'image/png', bytes: paintDisc('red'), caption: 'what is that?' } as const
  const seen = stage.send('ada', photo, '(picture) what is that?')
  const { text: description } = await stage.answer(seen, (text) => text.includes('I see'))
  stage.check(description.includes('red'), 'a model that sees is shown the picture itself')

  const spoken = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf(SECRET), more: { duration: 3 } } as const
  const noted = stage.send('ada', spoken, `(voice note) “${SECRET}”`)
  await stage.answer(noted, isKept)
  const heard = stage.audio.ledger.all(({ kind }) => kind === 'heard').length
  stage.check(heard === 1, 'the voice note was transcribed, once, and its words are those of its sender')

  await stage.answer(stage.say('ada', 'family', KNOWN), isKept)
  const [inGroup, inPrivate] = [await asked(stage, 'family', `@parley ${QUESTION}`), await asked(stage, 'dm', QUESTION)]
  stage.check(knows(inGroup, 'cake') && !knows(inGroup, 'kite'), 'the group learns nothing of what is private')
  stage.check(knows(inPrivate, 'cake') && knows(inPrivate, 'kite'), 'in private Ada is told both')
  stage.check(
    [seen, noted].every((line) => sentAfter(line) > 0),
    'each was answered where it was sent',
  )
}

async function asked(stage: Stage, where: 'family' | 'dm', question: string): Promise<string> {
  const line: Line = stage.say('ada', where, question)
  return (await stage.answer(line, (text) => /^I remember .*\.$/s.test(text))).text
}

const isKept = (text: string): boolean => /^Remembered/.test(text)
const knows = (text: string, word: string): boolean => text.includes(word)
