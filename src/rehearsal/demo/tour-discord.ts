import { isIn } from './platform-stage.ts'
import { type Stage, sentAfter } from './stage.ts'

export async function channelAndThread(stage: Stage): Promise<void> {
  const overheard = await stage.decision(stage.say('cy', 'workshop', 'The drill is charged.'))
  stage.check(overheard.outcome === 'context', 'a remark among people is kept as context; nothing is answered')

  const question = stage.say('bo', 'workshop', '@parley what do you know about the drill?')
  const inPlace = await stage.answer(question, (answer) => answer.includes('charged'))
  stage.check(isIn(question.spot)(inPlace), 'a mention is answered in the channel, and knows what was said before')

  const leak = stage.say('cy', 'boiler', '@parley the boiler leaks')
  await stage.answer(leak, (answer) => answer.includes('”'))
  const asked = stage.say('cy', 'boiler', '@parley what do you know?')
  const { text } = await stage.answer(asked, (answer) => answer.includes('leaks'))
  stage.check(!text.includes('drill'), 'the thread knows the boiler and nothing of the drill')
  const apart = sentAfter(question) === 1 && sentAfter(leak) === 2
  stage.check(apart, 'one answer in the channel, two in the thread: each where it was asked for')
}
