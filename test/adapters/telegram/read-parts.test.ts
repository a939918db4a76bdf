import { expect, it } from 'vitest'
import { readUpdate } from '../../../adapters/telegram/inbound/read-event.ts'
import { buttonLine, readAttachments, readEnclosed } from '../../../adapters/telegram/inbound/read-parts.ts'
import { context } from './inbound-context.ts'

it.each([-1, 1.5, 1e300, '7', null])('F-G01: a file whose size is %j is a file of unknown size', (file_size) => {
  expect(readAttachments({ document: { file_id: 'a', file_size } })).toEqual([{ ref: 'a', kind: 'document' }])
})

it('F-G01: of a picture in sizes that are none some size is taken', () => {
  const photo = [{ file_id: 'a', width: -1, height: 3 }, { file_id: 'b' }, { file_id: 'c', width: 2, height: 2 }]
  expect(readAttachments({ photo })).toMatchObject([{ ref: 'c', kind: 'photo' }])
})

it.each<[object, readonly string[]]>([
  [
    {
      phone_number: '15550100',
      first_name: 'Cy',
      vcard: `BEGIN:VCARD\nTEL;TYPE=cell:+1 (555) 0100\nitem2.TEL;TYPE=work:+44 20 1\nTEL;VALUE=uri:tel:+49-30-1\nTELX:no`,
    },
    ['contact: Cy, 15550100, +44 20 1, +49-30-1'],
  ],
  [
    { phone_number: '+1', first_name: 'Cy', vcard: 'NOTE:a long\r\n  note that is\r\n\t folded\r\nORG:A\r\n cme' },
    ['contact: Cy, +1, a long note that is folded, Acme'],
  ],
  [
    {
      phone_number: '+1',
      first_name: 'Cy',
      vcard:
        'NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Gr=C3=BC=\r\n=C3=9Fe=0D=0A100%\r\nORG;ENCODING=QUOTED-PRINTABLE:Gr=FC=DF\r\nPHOTO;ENCODING=b:QUI=\r\nTITLE:Chief',
    },
    ['contact: Cy, +1, Grüße 100%, Chief'],
  ],
  [{ phone_number: '+1', vcard: `NOTE:${'x'.repeat(400)}\nORG:Acme` }, [`contact: +1, ${'x'.repeat(300)}…, Acme`]],
  [
    { phone_number: '+1', vcard: `NOTE:${'x'.repeat(300)}\nADR:;;${'y'.repeat(290)};Town` },
    [`contact: +1, ${'x'.repeat(300)}`, `contact (more): ${'y'.repeat(290)}, Town`],
  ],
])('a contact %j is shown with what its card says more', (contact, lines) => {
  expect(readEnclosed({ contact })).toEqual(lines)
})

it('the buttons of an app say which address they open and what they copy', () => {
  const inline_keyboard = [
    [
      { text: 'Site', url: 'https://a.example' },
      { text: 'App', web_app: { url: 'https://app.example' } },
      { text: 'Sign in', login_url: { url: 'https://login.example' } },
    ],
    [
      { text: 'Code', copy_text: { text: 'SAVE10' } },
      { text: 'Ask', switch_inline_query: 'q' },
      { text: 'Odd', web_app: 7, copy_text: { text: 8 } },
      { text: 9, url: [] },
    ],
  ]
  const [site, app, login] = [
    'Site (https://a.example)',
    'App (https://app.example)',
    'Sign in (https://login.example)',
  ]
  expect(buttonLine({ reply_markup: { inline_keyboard } })).toEqual([
    `buttons: ${[site, app, login, 'Code (copies: SAVE10)', 'Ask', 'Odd'].join(' / ')}`,
  ])
})

const ADA = { id: 111, is_bot: false, first_name: 'Ada' }
const message = {
  ...{ message_id: 5, date: 1_795_000_000, text: 'hello', from: ADA },
  chat: { id: 111, type: 'private', first_name: 'Ada' },
}

it.each<[string, object, object]>([
  ['a message that is replied to without an id', { reply_to_message: { date: 1, from: ADA, chat: message.chat } }, {}],
  ['no message that is replied to', { reply_to_message: 7 }, {}],
  ['a name', { from: { ...ADA, first_name: {}, username: 7 } }, { sender: { id: '111', kind: 'user' } }],
  ['a file without an id', { photo: [{ file_id: 7 }], document: { file_id: {} } }, { attachments: [] }],
  ['the name of a file', { document: { file_id: 'a', file_name: 7 } }, { attachments: [{ ref: 'a' }] }],
  ['the origin of a forward', { forward_origin: 7 }, { forwarded: {} }],
  ['the user of an origin', { forward_origin: { type: 'user', sender_user: {} } }, { forwarded: {} }],
  ['the origin in old fields', { forward_date: 1, forward_from: 'x' }, { forwarded: {} }],
  [
    'the origin of a message elsewhere',
    { external_reply: { origin: 7 }, quote: { text: 'theirs' } },
    { forwarded: { text: 'theirs' } },
  ],
  ['no message elsewhere', { external_reply: 7 }, {}],
])('F-G01: %s that cannot be read is left out, and the rest of the message is read', (_, fields, facts) => {
  const reading = readUpdate({ update_id: 1, message: { ...message, ...fields } }, context)
  expect(reading).toMatchObject({ kind: 'event', event: { kind: 'message', text: 'hello', ...facts } })
})
