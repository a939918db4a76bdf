import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { decodeText, detectEncodings } from '../../src/platform/decode-text.ts'
import { encodeIn } from '../fakes/encode-text.ts'

/** The detector is asked in a process of its own. */
const apart = { clock: systemClock, signal: new AbortController().signal }
/** It is asked here, which saves the start of a process for each text. */
const run = { ...apart, detect: detectEncodings }

const RUSSIAN = [
  'Имя;Город\nАнна;Москва\n',
  'Привет! Купи молоко и хлеб.',
  'Дата;Сумма;Назначение платежа\n01.02.2024;1500,00;Оплата по договору\n03.02.2024;870,50;Возврат\n',
  'Список покупок:\n- молоко\n- яйца\n- сыр\nПозвонить маме в воскресенье.',
]
const POLISH = [
  'Imię;Miasto\nŻaneta;Łódź\nPaweł;Gdańsk\n',
  'Lista zakupów: mleko, masło, ogórki, śmietana, żółty ser',
  'Data;Kwota;Opis\n2024-01-05;120,50;Opłata za wodę\n2024-01-07;80;Książki dla córki\n',
]
const JAPANESE = [
  '買い物リスト：牛乳、卵、パン',
  '会議は明日の午後三時からです。資料を忘れないでください。',
  '日付,金額\n2024年1月5日,1500円\nコーヒー,300円\n',
]
const CHINESE = [
  '姓名,城市\n张伟,北京\n王芳,上海\n',
  '购物清单：牛奶、鸡蛋、面包',
  '会议改到明天下午三点，请带上资料。',
]

/** Texts as people attach them, short ones too; those of the last column are known to be guesses. */
const SAMPLES: readonly (readonly [string, readonly string[]])[] = [
  [
    'windows-1251',
    [
      ...RUSSIAN,
      'Зустріч перенесено на четвер, о десятій ранку. Візьміть документи.',
      'чай,100\nкофе,200\n',
      'Привет',
      'id;имя\n1;Анна\n',
      'BM25 — это функция',
      'НаименованиеТовара;КодЕдиницы\nХлебБелый;5\n',
      'Счёт №15',
    ],
  ],
  ['koi8-r', RUSSIAN],
  ['iso-8859-5', RUSSIAN.slice(1)],
  ['ibm866', RUSSIAN.slice(1)],
  [
    'windows-1250',
    [...POLISH, 'Jméno;Město\nJiří;Plzeň\nŽofie;České Budějovice\n', 'Kérlek, vegyél tejet és kenyeret, ötkor.'],
  ],
  ['iso-8859-2', [...POLISH, 'Příliš žluťoučký kůň úpěl ďábelské ódy. Děkuji za zprávu.', 'Šest žab']],
  ['shift_jis', [...JAPANESE, '氏名,住所\n山田太郎,東京都千代田区\n佐藤花子,大阪府\n']],
  ['euc-jp', JAPANESE],
  ['gbk', CHINESE],
  ['big5', ['姓名,城市\n張偉,台北\n王芳,高雄\n', '購物清單：牛奶、雞蛋、麵包', '會議改到明天下午三點，請帶資料。']],
  ['euc-kr', ['이름,도시\n김철수,서울\n이영희,부산\n', '장보기 목록: 우유, 달걀, 빵', '회의는 내일 오후 세 시입니다.']],
  [
    'windows-1252',
    [
      ...['für', 'Grüße', 'Name;Ort\nJürgen;Köln\nBärbel;München\n', 'Nom;Prénom;Ville\nLefèvre;Hélène;Orléans\n'],
      ...[
        'Mañana compraré pan, jamón y melón. ¿Vienes?',
        'Total: 15 € – “fine”',
        'It’s Bob’s list',
        '30 °C, ½ cup, £5',
      ],
      ...[
        'Descrição;Preço\nPão;1,20\nCoração;3\n',
        'Köp mjölk, bröd och ägg på vägen hem.',
        'Café Müller',
        'naïve résumé',
        'Perché no? È così.',
        '80 m² groß',
        ...['geht´s noch?', 'col·lecció', 'à la carte', 'Foo®bar ™ ©2024 Müller', 'n° 5, 1ª, 2º', 'l’été', 'É'],
      ],
    ],
  ],
  ['windows-1253', ['Όνομα;Πόλη\nΜαρία;Αθήνα\n', 'Αύριο στις τρεις έχουμε συνάντηση.']],
  ['windows-1254', ['Ad;Şehir\nAyşe;İstanbul\nÇağrı;Muğla\n', 'Yarın saat üçte toplantı var, lütfen geç kalmayın.']],
  [
    'ibm850',
    [
      'Sehr geehrte Frau Müller, anbei die Übersicht über die Größe der Räume.',
      ' Datenträger in Laufwerk C: ist System\r\n Verzeichnis von C:\\Users\\Jörg\r\n25.11.2026  08:00    <DIR>  Überweisungen\r\n',
      " Le volume dans le lecteur C n'a pas de nom.\r\n Répertoire de C:\\Users\\François\r\n",
      ...[
        'für',
        'résumé',
        'café',
        'ÜBERSICHT',
        'El señor Muñoz vendrá mañana. ¿Qué tal?',
        'Kære Søren, her er regningen på æbler og øl. Åse',
      ],
    ],
  ],
  ['windows-1255', ['שם;עיר\nדוד;ירושלים\n']],
  ['windows-1256', ['الاسم;المدينة\nمحمد;القاهرة\n']],
]

describe('a text without a mark', () => {
  it.each(SAMPLES)('in %s is read as its writer sees it', async (encoding, texts) => {
    const read: string[] = []
    for (const text of texts) read.push((await decodeText(encodeIn(encoding, text), run)).text)
    expect(read).toEqual(texts)
  })

  it.each([
    ['windows-1251', 'Привет'],
    ['shift_jis', JAPANESE[0] ?? ''],
    ['windows-1252', 'Grüße'],
  ])('in %s is read by the process that detects encodings', async (encoding, text) => {
    expect(await decodeText(encodeIn(encoding, text), apart)).toMatchObject({ text, encoding })
  })

  it.each([
    ['windows-1251', 'Счёт №15', 'Счёт №15'],
    ['shift_jis', '田中', '田中'],
    ['euc-jp', '田中', '拍面'],
    ['windows-1254', 'şirket', 'ţirket'],
    ['windows-1254', 'Fatura no 15, şirket', 'Fatura no 15, þirket'],
    ['windows-1250', 'Faktura č. 15', 'Faktura è. 15'],
    ['windows-1252', 'Ø', 'ط'],
  ])('in %s that is as short as %j is a guess', async (encoding, text, read) => {
    expect(await decodeText(encodeIn(encoding, text), run)).toMatchObject({ text: read, guess: true })
  })

  it('of which only marks are beyond ASCII is western, without a guess', async () => {
    for (const text of ['It’s Bob’s list', 'Total: 15 € – “fine”', '30 °C, ½ cup, £5'])
      expect(await decodeText(encodeIn('windows-1252', text), run)).toMatchObject({ text, guess: false })
  })

  const line = encodeIn(
    'windows-1251',
    'Все счастливые семьи похожи друг на друга, каждая несчастливая несчастлива.\r\n',
  )
  it.each([
    ['of another encoding', Buffer.alloc(5_000_000, line)],
    ['of one line', Buffer.alloc(5_000_000, 0xe9)],
    ['of characters that Node has no decoder for', Buffer.alloc(5_000_000, 0x92)],
    ['of UTF-8 with a broken byte', Buffer.alloc(5_000_001, 'Привет, мир. ').fill(0xff, 4_000_000, 4_000_001)],
  ])('of 5 MB %s holds the process up for a moment alone, before and after it is detected', async (_what, bytes) => {
    const [before, after] = [[], []] as [number[], number[]]
    // The first run has yet to be compiled.
    for (let round = 0; round < 3; round++) {
      let since = process.cpuUsage()
      const lap = (into: number[]): void => {
        const { user, system } = process.cpuUsage(since)
        into.push((user + system) / 1_000)
      }
      const detect: typeof detectEncodings = async (sample) => {
        lap(before)
        expect(sample.length).toBeLessThan(70_000)
        since = process.cpuUsage()
        return [{ encoding: 'windows-1251', confidence: 0.5 }]
      }
      await decodeText(bytes, { ...apart, detect })
      lap(after)
    }
    // It takes about 25 ms each; to look at all of it by patterns took more than a second.
    expect(Math.min(...before, ...after)).toBeLessThan(250)
  })

  it('whose few letters fit several encodings is a guess, one with many is none', async () => {
    const short = await decodeText(encodeIn('windows-1250', POLISH[0] ?? ''), run)
    expect(short).toMatchObject({ encoding: 'windows-1250', guess: true })
    const long = await decodeText(encodeIn('windows-1251', RUSSIAN[2] ?? ''), run)
    expect(long).toMatchObject({ encoding: 'windows-1251', guess: false })
  })

  it.each([
    ['Grüße an alle', 'utf-16le'],
    ['Имя,Город\r\nАнна,Москва\r\n', 'utf-16le'],
    ['姓名, 城市\n张伟, 北京\n', 'utf-16le'],
    ['Grüße an alle', 'utf-16be'],
    ['Имя,Город\r\nАнна,Москва\r\n', 'utf-16be'],
  ])('%j in %s is known by its zero bytes', async (text, encoding) => {
    const bytes = Buffer.from(text, 'utf16le')
    if (encoding === 'utf-16be') bytes.swap16()
    expect(await decodeText(bytes, run)).toMatchObject({ text, encoding, guess: false })
  })

  it('in the Japanese encoding for mail is known by its escape sequences', async () => {
    const bytes = Buffer.from('\x1b$B;qNA\x1b(B\n', 'latin1')
    expect(await decodeText(bytes, run)).toMatchObject({ text: '資料\n', encoding: 'iso-2022-jp' })
  })

  const whole = Buffer.from('Привет, Grüße, 会議')
  it.each([
    ['is cut within its last character', whole.subarray(0, -1), 'Привет, Grüße, 会\ufffd'],
    [
      'has a broken byte',
      Buffer.concat([whole, Uint8Array.of(0xff), whole]),
      'Привет, Grüße, 会議\ufffdПривет, Grüße, 会議',
    ],
    ['has one sound character and is cut', Buffer.from('Grüße und für').subarray(0, -2), 'Grüße und f\ufffd'],
  ])('of UTF-8 that %s stays UTF-8', async (_how, bytes, text) => {
    expect(await decodeText(bytes, run)).toEqual({ text, encoding: 'utf-8', damaged: true, guess: false })
  })

  it('of which something else says the encoding is read in that, without a guess', async () => {
    const bytes = encodeIn('koi8-r', 'чай')
    expect(await decodeText(bytes, { ...run, names: ['nothing', 'koi8-r'] })).toMatchObject({
      text: 'чай',
      guess: false,
    })
  })

  it('is read as western where no process can be asked', async () => {
    const signal = AbortSignal.abort()
    const read = decodeText(encodeIn('windows-1251', 'Привет'), { ...apart, signal })
    expect(await read).toMatchObject({ text: 'Ïðèâåò', encoding: 'windows-1252', guess: true })
  })

  it('of which only the end is beyond ASCII is judged by that', async () => {
    const bytes = Buffer.concat([Buffer.alloc(200_000, 'line\n'), encodeIn('windows-1251', RUSSIAN[3] ?? '')])
    expect((await decodeText(bytes, run)).text.endsWith(RUSSIAN[3] ?? '-')).toBe(true)
  })
})
