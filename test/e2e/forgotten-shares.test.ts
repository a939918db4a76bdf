import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { holding } from './forgetting-house.ts'
import { startSlackHousehold } from './slack-household.ts'

const MARK = 'zq9canary-4711'

it.each(['', 'look at this'])(
  'S41: the file of a message that somebody shares, saying "%s", goes with whoever wrote that message',
  async (text) => {
    const script: Script = (request) => textReply(`heard ${lastUserText(request).length}`)
    const home = await startSlackHousehold({ script })
    const { world, ledger } = home.slack
    const channel = world.addChannel({ name: 'club', members: ['U333', 'U555'] })
    const bytes = Buffer.from(`inside: ${MARK}`)
    const files = [world.attach({ bytes, name: 'note.txt', mime: 'text/plain' })]
    const { ts } = world.say({ from: 'U555', channel, text: 'mine', extra: { subtype: 'file_share', files } })
    const after = ledger.mark()
    world.share({ from: 'U333', of: { channel, message: ts }, text })
    await ledger.nextFromBot('sent', { after })
    expect(JSON.stringify(home.anthropic.ledger.requests().at(-1)?.messages)).toContain(MARK)
    const authors = withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      database.prepare("SELECT DISTINCT author FROM authors WHERE author LIKE '%U555'").all(),
    ) as { author: string }[]
    const name = authors[0]?.author ?? ''
    await home.daemon.operator.forgetting.forget({ kind: 'person', name, confirmed: true })
    await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  },
)
