import { isIn } from './platform-stage.ts'
import { type Line, type Stage, sentAfter } from './stage.ts'

export async function twoThreads(stage: Stage): Promise<void> {
  const lamp = await beginThread(stage, 'lamp', '@parley the lamp in the hall is broken')
  const printer = await beginThread(stage, 'printer', '@parley the printer wants paper')
  const asked = stage.say('cy', 'lamp', '@parley what do you know?')
  const answer = await stage.answer(asked, (shown) => shown.includes('read') && shown.includes('lamp'))
  stage.check(isIn(lamp.spot)(answer) && !answer.text.includes('printer'), 'one thread knows nothing of the other')
  const ours = stage.platforms.slack.shown(lamp.mark).filter(({ change }) => change === 'sent')
  const inThreads = sentAfter(lamp) === 2 && sentAfter(printer) === 1
  stage.check(inThreads && ours.length === 3, 'each answer in its thread, none at the root of the channel')
}

async function beginThread(stage: Stage, where: 'lamp' | 'printer', text: string): Promise<Line> {
  const said = stage.say('bo', where, text)
  const answer = await stage.answer(said, (shown) => shown.includes('”'))
  stage.check(isIn(said.spot)(answer), 'a mention in the channel is answered in a thread of its own')
  return said
}
