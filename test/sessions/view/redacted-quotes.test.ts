import { expect, it } from 'vitest'
import { type ReceivedMessage, redact } from '../../../src/sessions/view/received.ts'

it('S28: a deleted message takes along its file with those who have replied to it', () => {
  const sender = { id: '555', kind: 'user' } as const
  const reply: ReceivedMessage = {
    ...{ text: 'what is in it?', messageId: '8', sender, owner: false, addressed: true, triggers: true },
    quoted: { messageId: '7', own: false },
    attachments: [{ ref: 'theirs', quoted: true }, { ref: 'own' }],
  }
  expect(redact([reply], { messageId: '7' })).toEqual([{ ...reply, attachments: [{ ref: 'own' }] }])
  expect(redact([reply], { messageId: '6' })).toEqual([reply])
})

it('S28: the words in a quote stay where a message of another chat of the session has its number', () => {
  const sender = { id: '555', kind: 'user' } as const
  const reply: ReceivedMessage = {
    ...{ text: 'yes', messageId: '8', chat: 'telegram:group:-1', sender },
    ...{ owner: false, addressed: true, triggers: true },
    quoted: { messageId: '7', text: 'dinner at seven', own: false },
  }
  expect(redact([reply], { messageId: '7', chat: 'telegram:group:-2' })).toEqual([reply])
  expect(JSON.stringify(redact([reply], { messageId: '7', chat: 'telegram:group:-1' }))).not.toContain('dinner')
})
