import type { Shown } from './platform-stage.ts'
import { type Stage, sentAfter } from './stage.ts'

export async function familyGroup(stage: Stage): Promise<void> {
  const remark = stage.say('bo', 'family', 'Dinner at seven?')
  const overheard = await stage.decision(remark)
  stage.printer.decided(overheard.line)
  stage.check(overheard.outcome === 'context', 'a remark among people is kept as context; nothing is answered')

  const question = stage.say('bo', 'family', '@parley what do you know about dinner?')
  const { text } = await stage.answer(question, (answer) => answer.includes('at seven?'))
  stage.check(text.includes('Dinner at seven?'), 'a mention is answered, and the answer knows what was said before')

  const aside = stage.say('ada', 'family', "I'll bring the bread.")
  const outcome = await stage.outcome(aside)
  stage.printer.decided('the model answers <NO_REPLY>: nothing is sent')
  const silent = outcome === 'silent' && sentAfter(aside) === 0
  stage.check(silent, "the owner's aside reached the model, and its silence stayed silence")
}

export async function forumTopics(stage: Stage): Promise<void> {
  for (const [where, text] of [
    ['garden', '@parley the tomatoes are planted'],
    ['budget', '@parley there are 120 euros left'],
  ] as const) {
    const said = stage.say('cy', where, text)
    const { spot } = await stage.answer(said, (answer) => answer.includes('”'))
    stage.check(spot.topic === said.spot.topic, 'the answer is where the question was')
  }
  const question = stage.say('cy', 'garden', '@parley what do you know?')
  const { text } = await stage.answer(question, (answer) => answer.includes('planted'))
  stage.check(text.includes('tomatoes') && !text.includes('120'), 'Garden knows the tomatoes and nothing of the budget')
}

export async function directChats(stage: Stage): Promise<void> {
  const question = stage.say('ada', 'dm', 'what time is it?')
  const { text } = await stage.answer(question, (answer) => /\d\d:\d\d/.test(answer))
  stage.check(/\d\d:\d\d/.test(text), 'the model asked the clock, a tool, before it answered')

  const request = stage.say('mallory', 'dm', 'hi, who are you?')
  const first = await stage.decision(request)
  await stage.answer(request)
  const insisting = stage.say('mallory', 'dm', 'hello??')
  const second = await stage.decision(insisting)
  stage.printer.decided('not let in, and told so already: no answer')
  const refused = first.outcome.startsWith('refused') && second.outcome.startsWith('refused')
  stage.check(refused && sentAfter(request) === 1, 'a stranger is told so once, politely, and then left alone')
  await stage.answer({ ...question, mark: request.mark }, (card) => card.includes('/admit'))
}

export async function crashInReply(stage: Stage): Promise<void> {
  const said = stage.say('ada', 'dm', 'tell me a story')
  const growing = ({ spot, change }: Shown) => spot.chat === said.spot.chat && change === 'edited'
  const { shown } = await said.platform.next(growing, { after: said.mark })
  stage.printer.answered(said.place, `${shown.text.split('\n')[0]} …`)
  await stage.crash()
  await stage.answer(said, (text) => text.endsWith('The end.'))
  stage.check(sentAfter(said) === 1, 'one message, whole, written once: it went on in the one it had begun')
}
