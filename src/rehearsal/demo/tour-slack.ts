import { isIn } from './platform-stage.ts'
import { type Line, type Stage, sentAfter } from './stage.ts'

export async function twoThreads(stage: Stage): Promise<void> {
  const lamp = await beginThread(stage, 'lamp', '@parley the lamp in the hall is broken')
  const printer = await beginThread(stage, 'printer', '@parley the printer wants paper')
  await recall(stage, lamp, { knows: 'lamp', not: 'printer' })
  await recall(stage, printer, { knows: 'printer', not: 'lamp' })
  const ours = stage.platforms.slack.shown(lamp.mark).filter(({ change }) => change === 'sent')
  const inThreads = sentAfter(lamp) === 2 && sentAfter(printer) === 2
  stage.check(inThreads && ours.length === 4, 'two answers in each thread, none at the root of the channel')
}

type ThreadName = 'lamp' | 'printer'

async function beginThread(stage: Stage, where: ThreadName, text: string): Promise<Line> {
  stage.place(where)
  const said = stage.say('bo', where, text)
  await stage.decision(said)
  const answer = await stage.answer(said, (shown) => shown.includes('”'))
  stage.check(isIn(said.spot)(answer), 'a mention in the channel is answered in a thread of its own')
  return said
}

async function recall(
  stage: Stage,
  { spot }: Line,
  { knows, not }: Record<'knows' | 'not', ThreadName>,
): Promise<void> {
  stage.place(knows)
  const asked = stage.say('cy', knows, '@parley what do you know?')
  await stage.decision(asked)
  const answer = await stage.answer(asked, (shown) => shown.includes('read') && shown.includes(knows))
  stage.check(isIn(spot)(answer) && !answer.text.includes(not), `this thread knows nothing of the ${not}`)
}
