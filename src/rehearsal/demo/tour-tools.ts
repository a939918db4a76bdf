import { isIn, type Shown } from './platform-stage.ts'
import type { Stage } from './stage.ts'

/** The name of the demo's tool server. */
export const SHOPPING = 'shopping'

const WITHIN_MS = 60_000

/** A reminder, a tool of a server that needs a yes, which a button gives, and one that needs none. */
export async function reminderAndTools(stage: Stage): Promise<void> {
  const wish = stage.say('ada', 'dm', '/remind in 2 seconds take the bread out')
  await stage.answer(wish, (text) => text.startsWith('I remind you'))

  const asked = stage.say('ada', 'dm', 'please put milk on the list')
  const card = await nextOf(stage, ({ text }) => text.includes('May I use'), asked.mark)
  const [first = ''] = card.text.split('\n')
  stage.printer.answered(asked.place, `${first} …`)
  const [code = ''] = /(?<=\/approve )\w+/.exec(card.text) ?? []
  stage.check(card.text.includes('milk'), 'the question shows the whole call')
  stage.printer.note('Ada presses the button “Allow once”')
  stage.platforms.telegram.press(stage.cast.people.ada, card, `/approve ${code}`)
  await stage.answer(asked, (text) => text.includes('milk is on the list'))
  const isClosed = ({ messageId, change }: Shown) => messageId === card.messageId && change === 'edited'
  const closed = await nextOf(stage, isClosed, asked.mark)
  stage.check(closed.text.includes('Allowed once by'), 'the question says who has answered it, and is closed')

  const shown = stage.say('ada', 'dm', 'show the list')
  const { text } = await stage.answer(shown, (answer) => answer.includes('On the list'))
  stage.check(text.includes('milk'), 'a tool that is marked as inside needs no yes')

  const due = (version: Shown) => isIn(wish.spot)(version) && version.text.startsWith('Reminder:')
  const reminder = await nextOf(stage, due, wish.mark)
  stage.printer.answered(wish.place, reminder.text)
  const said = stage.platforms.telegram.shown(wish.mark).filter((one) => one.change === 'sent' && due(one))
  stage.check(said.length === 1 && reminder.text.includes('bread'), 'the reminder comes once, without the model')
}

async function nextOf(stage: Stage, matches: (shown: Shown) => boolean, after: number): Promise<Shown> {
  return (await stage.platforms.telegram.next(matches, { after, timeoutMs: WITHIN_MS })).shown
}
