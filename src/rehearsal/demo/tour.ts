import type { MessageEntry, TelegramEntry } from '../telegram/ledger-entries.ts'
import { awaitOutcome } from './decision.ts'
import type { Said, Stage } from './stage.ts'

const RESTART_WITHIN_MS = 10_000

/** The tour: each scene lets somebody say something, waits for what the daemon does, and checks it. */
export async function playTour(stage: Stage): Promise<void> {
  await familyGroup(stage)
  await forumTopics(stage)
  await directChats(stage)
  await crash(stage)
  balance(stage)
}

async function familyGroup(stage: Stage): Promise<void> {
  stage.printer.title('1  A group: speak only when it should')
  stage.printer.place('Family')
  const overheard = await stage.decision(stage.say('bo', 'family', 'Dinner at seven?'))
  stage.check(overheard.outcome === 'context', 'a remark among people is kept as context; nothing is answered')

  const question = stage.say('bo', 'family', '@parley_bot what do you know about dinner?')
  await stage.decision(question)
  const { text } = await stage.answer(question, (answer) => answer.includes('at seven?'))
  stage.check(text.includes('Dinner at seven?'), 'a mention is answered, and the answer knows what was said before')

  const aside = stage.say('ada', 'family', "I'll bring the bread.")
  await stage.decision(aside)
  const outcome = await awaitOutcome(stage.daemon, aside.chat, aside.message.message_id)
  stage.printer.decided('the model answered <NO_REPLY>: nothing is sent')
  stage.check(outcome === 'silent', "the owner's aside reached the model, and its silence stayed silence")
}

async function forumTopics(stage: Stage): Promise<void> {
  stage.printer.title('2  Two topics of one forum: every conversation apart')
  for (const [where, text] of [
    ['garden', '@parley_bot the tomatoes are planted'],
    ['budget', '@parley_bot there are 120 euros left'],
    ['general', '@parley_bot hello everybody'],
  ] as const) {
    stage.printer.place(stage.cast.places[where].title)
    const said = stage.say('cy', where, text)
    await stage.decision(said)
    const { topic } = await stage.answer(said, (answer) => answer.includes('”'))
    stage.check(topic === said.topic, 'the answer is where the question was')
  }
  stage.printer.place(stage.cast.places.garden.title)
  const question = stage.say('cy', 'garden', '@parley_bot what do you know?')
  await stage.decision(question)
  const { text } = await stage.answer(question, (answer) => answer.includes('planted'))
  stage.check(text.includes('tomatoes') && !text.includes('120'), 'Garden knows the tomatoes and nothing of the budget')
}

async function directChats(stage: Stage): Promise<void> {
  stage.printer.title('3  Direct chats: the owner, and a stranger')
  stage.printer.place('Ada, direct')
  const question = stage.say('ada', 'dm', 'what time is it?')
  await stage.decision(question)
  const { text } = await stage.answer(question, (answer) => /\d\d:\d\d/.test(answer))
  stage.check(/\d\d:\d\d/.test(text), 'the model asked the clock, a tool, before it answered')

  stage.printer.place('Mallory, direct')
  const knock = stage.say('mallory', 'dm', 'hi, who are you?')
  const first = await stage.decision(knock)
  await stage.answer(knock)
  const insisting = stage.say('mallory', 'dm', 'hello??')
  const second = await stage.decision(insisting)
  const refused = first.outcome.startsWith('refused') && second.outcome.startsWith('refused')
  stage.check(refused && sentTo(stage, knock) === 1, 'a stranger is told so once, politely, and then left alone')
}

async function crash(stage: Stage): Promise<void> {
  const { telegram, printer, daemon } = stage
  printer.title('4  kill -9 in mid-reply: nothing lost, answered once')
  printer.place('Ada, direct')
  const said = stage.say('ada', 'dm', 'tell me a story')
  await stage.decision(said)
  const where = ({ chatId }: MessageEntry) => chatId === said.chat
  const shown = await telegram.ledger.nextFromBot('edited', { after: said.mark, where })
  printer.answered('Parley', `${shown.text.split('\n')[0]} …`)
  const mark = telegram.ledger.mark()
  await daemon.kill()
  printer.note('✂  killed while it was writing; it starts again')
  await daemon.start(telegram.ledger.listening({ after: mark, timeoutMs: RESTART_WITHIN_MS }))
  await stage.answer(said, (text) => text.endsWith('The end.'))
  stage.check(sentTo(stage, said) === 1, 'one message, whole, written once: it went on in the one it had begun')
}

/** The whole tour against the ledger: what people really saw. */
function balance(stage: Stage): void {
  const { ledger } = stage.telegram
  stage.printer.title('The ledger')
  const fromBot = (entry: TelegramEntry): entry is MessageEntry => entry.kind === 'message' && entry.botId !== null
  const seen = ledger.all(fromBot)
  const sent = seen.filter(({ change }) => change === 'sent').length
  stage.check(
    !seen.some(({ text }) => /NO_REPLY|EMPTY_RESPONSE/.test(text)),
    'no silence marker, and no part of one, was ever visible',
  )
  const refusals = ledger.all(
    (entry) => entry.kind === 'call' && entry.answer?.ok === false && entry.method !== 'getUpdates',
  )
  stage.check(refusals.length === 0, 'the platform refused none of our calls')
  const modelRefusals = stage.anthropic.ledger.all(({ kind }) => kind === 'refused')
  stage.check(modelRefusals.length === 0, 'the model refused none of our requests')
  stage.printer.note(`${sent} messages sent, ${stage.checks} checks, ${stage.failures} failed`)
}

/** Messages of ours that stand in the chat since somebody said something. */
function sentTo({ telegram }: Stage, { chat, message }: Said): number {
  const ours = telegram.world.messages(chat, { by: 'bot', deleted: false })
  return ours.filter((stored) => stored.message.message_id > message.message_id).length
}
