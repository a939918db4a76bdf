import type { Shown } from './platform-stage.ts'
import { type Stage, sentAfter } from './stage.ts'

export async function familyGroup(stage: Stage): Promise<void> {
  stage.place('family')
  const overheard = await stage.decision(stage.say('bo', 'family', 'Dinner at seven?'))
  stage.check(overheard.outcome === 'context', 'a remark among people is kept as context; nothing is answered')

  const question = stage.say('bo', 'family', '@parley what do you know about dinner?')
  await stage.decision(question)
  const { text } = await stage.answer(question, (answer) => answer.includes('at seven?'))
  stage.check(text.includes('Dinner at seven?'), 'a mention is answered, and the answer knows what was said before')

  const aside = stage.say('ada', 'family', "I'll bring the bread.")
  await stage.decision(aside)
  const outcome = await stage.outcome(aside)
  stage.printer.decided('the model answered <NO_REPLY>: nothing is sent')
  const silent = outcome === 'silent' && sentAfter(aside) === 0
  stage.check(silent, "the owner's aside reached the model, and its silence stayed silence")
}

export async function forumTopics(stage: Stage): Promise<void> {
  for (const [where, text] of [
    ['garden', '@parley the tomatoes are planted'],
    ['budget', '@parley there are 120 euros left'],
    ['general', '@parley hello everybody'],
  ] as const) {
    stage.place(where)
    const said = stage.say('cy', where, text)
    await stage.decision(said)
    const { spot } = await stage.answer(said, (answer) => answer.includes('”'))
    stage.check(spot.topic === said.spot.topic, 'the answer is where the question was')
  }
  stage.place('garden')
  const question = stage.say('cy', 'garden', '@parley what do you know?')
  await stage.decision(question)
  const { text } = await stage.answer(question, (answer) => answer.includes('planted'))
  stage.check(text.includes('tomatoes') && !text.includes('120'), 'Garden knows the tomatoes and nothing of the budget')
}

export async function directChats(stage: Stage): Promise<void> {
  stage.printer.place('Telegram: Ada, direct')
  const question = stage.say('ada', 'dm', 'what time is it?')
  await stage.decision(question)
  const { text } = await stage.answer(question, (answer) => /\d\d:\d\d/.test(answer))
  stage.check(/\d\d:\d\d/.test(text), 'the model asked the clock, a tool, before it answered')

  stage.printer.place('Telegram: Mallory, direct')
  const knock = stage.say('mallory', 'dm', 'hi, who are you?')
  const first = await stage.decision(knock)
  await stage.answer(knock)
  const insisting = stage.say('mallory', 'dm', 'hello??')
  const second = await stage.decision(insisting)
  const refused = first.outcome.startsWith('refused') && second.outcome.startsWith('refused')
  stage.check(refused && sentAfter(knock) === 1, 'a stranger is told so once, politely, and then left alone')
}

export async function crashInReply(stage: Stage): Promise<void> {
  stage.printer.place('Telegram: Ada, direct')
  const said = stage.say('ada', 'dm', 'tell me a story')
  await stage.decision(said)
  const growing = ({ spot, change }: Shown) => spot.chat === said.spot.chat && change === 'edited'
  const { shown } = await said.platform.next(growing, { after: said.mark })
  stage.printer.answered('Parley', `${shown.text.split('\n')[0]} …`)
  await stage.crash()
  await stage.answer(said, (text) => text.endsWith('The end.'))
  stage.check(sentAfter(said) === 1, 'one message, whole, written once: it went on in the one it had begun')
}
