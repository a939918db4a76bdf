import { crc32, deflateRawSync, deflateSync } from 'node:zlib'

/** Real files, small ones, made by hand. */

/** A PNG of the given size; its pixels are all the same and so it is small, however many they are. */
export function png(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // One bit a pixel, shades of grey.
  header.set([1, 0, 0, 0, 0], 8)
  const rows = width * height > 1_000_000 ? Buffer.alloc(64) : Buffer.alloc(height * (1 + Math.ceil(width / 8)))
  const begin = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([begin, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

/** A GIF of one pixel with as many frames. */
export function gif(frames: number): Uint8Array {
  const screen = [...Buffer.from('GIF89a'), 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
  const frame = [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
  return Uint8Array.from([...screen, ...Array.from({ length: frames }, () => frame).flat(), 0x3b])
}

/** The beginning of a JPEG, up to its size. */
export function jpegHeader(width: number, height: number): Uint8Array {
  const comment = [0xff, 0xfe, 0, 4, 0x68, 0x69]
  const frame = Buffer.alloc(20)
  frame.set([0xff, 0xc0, 0, 17, 8])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, ...comment, ...frame])
}

/** A PDF with a page for each text; an empty text is an empty page. */
export function pdf(...pages: readonly string[]): Uint8Array {
  return pdfFile(pages.map((text) => ({ data: text === '' ? '' : `BT /F1 12 Tf 10 100 Td (${text}) Tj ET` })))
}

/** A PDF of a page with a text and the fields of a form, each the inside of its dictionary. */
export function pdfForm(text: string, ...fields: readonly string[]): Uint8Array {
  return pdfForms([text, fields])
}

/** A PDF with a page for each form. */
export function pdfForms(...forms: readonly (readonly [string, readonly string[]])[]): Uint8Array {
  const pages = forms.map(([text, fields]) => {
    const widgets = fields.map((field) => `<</Type/Annot/Subtype/Widget/Rect[0 0 90 20]${field}>>`)
    const data = text === '' ? '' : `BT /F1 12 Tf 10 100 Td (${text}) Tj ET`
    return { data, annotations: `/Annots[${widgets.join('')}]` }
  })
  return pdfFile(pages)
}

/** A PDF with a text, and one of a character in a font that is not in it, whose codes a table of that name explains. */
export function pdfNaming(table: string, ordering: string, text: string): Uint8Array {
  const about = `/FontDescriptor<</Type/FontDescriptor/FontName/Foreign/Flags 4>>`
  const system = `/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>`
  const inner = `<</Type/Font/Subtype/CIDFontType0/BaseFont/Foreign${system}${about}>>`
  const font = `<</Type/Font/Subtype/Type0/BaseFont/Foreign/Encoding/${table}/DescendantFonts[${inner}]>>`
  const data = `BT /F1 12 Tf 10 100 Td (${text}) Tj /F2 12 Tf <65E5> Tj ET`
  return pdfFile([{ data, fonts: `/F2${font}` }])
}

/** A PDF whose pages stand in parts of the document, one in each. */
export function pdfInParts(...pages: readonly string[]): Uint8Array {
  const contents = pages.map((text) => ({ data: `BT /F1 12 Tf 10 100 Td (${text}) Tj ET` }))
  const firstPart = 4 + 2 * pages.length
  const parts = pages.map((_, index) => `<</Type/Pages/Parent 2 0 R/Kids[${4 + 2 * index} 0 R]/Count 1>>`)
  return pdfFile(contents, { kids: parts.map((_, index) => `${firstPart + index} 0 R`).join(' '), parts })
}

/** A PDF with one page, whose content is deflated. */
export function pdfOf(deflated: Buffer): Uint8Array {
  return pdfFile([{ filter: '/Filter/FlateDecode', data: deflated.toString('latin1') }])
}

function pdfFile(
  pages: readonly {
    readonly data: string
    readonly filter?: string
    readonly annotations?: string
    readonly fonts?: string
  }[],
  { kids, parts }: { readonly kids: string; readonly parts: readonly string[] } = {
    kids: pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' '),
    parts: [],
  },
): Uint8Array {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap(({ filter = '', data, annotations = '', fonts = '' }, index) => {
      const uses = `/Contents ${5 + 2 * index} 0 R/Resources<</Font<</F1 3 0 R${fonts}>>>>`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]${uses}${annotations}>>`,
        `<<${filter}/Length ${data.length}>>stream\n${data}\nendstream`,
      ]
    }),
    ...parts,
  ]
  let body = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const at = body.length
    body += `${index + 1} 0 obj${object}endobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  const trailer = `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF\n`
  return Buffer.from(`${body}${table}${trailer}`, 'latin1')
}

/** An Ogg file with the head of an Opus stream and nothing to hear. */
export function ogg(): Uint8Array {
  const head = Buffer.alloc(28)
  head.write('OggS', 0, 'latin1')
  head.set([0, 2], 4)
  head.set([1, 19], 26)
  const opus = Buffer.alloc(19)
  opus.write('OpusHead', 0, 'latin1')
  opus.set([1, 1], 8)
  return Buffer.concat([head, opus])
}

/** An archive of these files; `encrypted` says only that they are. */
export function zip(files: Readonly<Record<string, string | Uint8Array>>, encrypted = false): Buffer {
  const [entries, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const [raw, named] = [Buffer.from(content), Buffer.from(name)]
    const packed = deflateRawSync(raw)
    // Version, flags with names in UTF-8, deflated, no time, checksum, sizes.
    const head = Buffer.alloc(26)
    head.writeUInt16LE(20, 0)
    head.writeUInt16LE(0x800 | (encrypted ? 1 : 0), 2)
    head.writeUInt16LE(8, 4)
    head.writeUInt32LE(crc32(raw), 10)
    head.writeUInt32LE(packed.length, 14)
    head.writeUInt32LE(raw.length, 18)
    head.writeUInt16LE(named.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, named, packed])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), head, place, named]))
    entries.push(local)
    at += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...entries, listed, end])
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Relationships by their ids: the last word of the type, and the target; an address is outside. */
function relations(of: Readonly<Record<string, readonly [string, string]>>): string {
  const all = Object.entries(of).map(([id, [type, target]]) => {
    const mode = /^https?:/.test(target) ? ' TargetMode="External"' : ''
    return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${mode}/>`
  })
  return `<Relationships>${all.join('')}</Relationships>`
}

function openXml(main: string, type: string, parts: Readonly<Record<string, string>>): Buffer {
  const kind = `application/vnd.openxmlformats-officedocument.${type}.main+xml`
  return zip({
    '[Content_Types].xml': `<Types><Override PartName="/${main}" ContentType="${kind}"/></Types>`,
    '_rels/.rels': relations({ rId1: ['officeDocument', main] }),
    ...parts,
  })
}

/** A Word document with the given body; further parts by their types, each with its name and content. */
export function docx(
  body: string,
  further: Readonly<Record<string, string>> = {},
  links: readonly string[] = [],
): Buffer {
  const parts = Object.entries(further).map(([type, content]) => [`word/${type}.xml`, content])
  const ofParts = Object.keys(further).map((type, at) => [`rId${at + 1}`, [type, `${type}.xml`]])
  const ofLinks = links.map((link, at) => [`link${at + 1}`, ['hyperlink', link]])
  return openXml('word/document.xml', 'wordprocessingml.document', {
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="w" xmlns:r="r"><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(Object.fromEntries([...ofParts, ...ofLinks])),
    ...Object.fromEntries(parts),
  })
}

export interface FakeBook {
  /** Rows in XML by the names of their sheets. */
  readonly sheets: Readonly<Record<string, string>>
  readonly strings?: readonly string[]
  /** Formats of the styles of cells, the first of which is that of 0. */
  readonly formats?: readonly string[]
  readonly from1904?: boolean
  /** An address with the id `l1`, and XML behind the rows, by the name of the sheet. */
  readonly links?: Readonly<Record<string, readonly [string, string]>>
  /** The part of the notes by the name of the sheet. */
  readonly notes?: Readonly<Record<string, string>>
  /** The drawing on a sheet and a chart in it, by the name of the sheet. */
  readonly drawn?: Readonly<Record<string, readonly [string, string]>>
  /** The numbers of the styles whose words are struck through. */
  readonly struck?: readonly number[]
}

/** A workbook. */
export function xlsx({
  sheets,
  strings = [],
  formats = [],
  from1904 = false,
  links = {},
  notes = {},
  drawn = {},
  struck = [],
}: FakeBook): Buffer {
  const names = Object.keys(sheets)
  const ids = names.map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
  const own = formats.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`)
  const styles = formats.map((_, at) => `<xf numFmtId="${164 + at}" fontId="${struck.includes(at) ? 1 : 0}"/>`)
  const parts = names.map((name, at) => {
    const rows = `<sheetData>${sheets[name] ?? ''}</sheetData>${links[name]?.[1] ?? ''}`
    return [`xl/worksheets/sheet${at + 1}.xml`, `<worksheet xmlns:r="r">${rows}</worksheet>`] as const
  })
  const beside = names.flatMap((name, at) => {
    const [link, note, drawing] = [links[name], notes[name], drawn[name]]
    const own = {
      ...(link === undefined ? {} : { l1: ['hyperlink', link[0]] as const }),
      ...(note === undefined ? {} : { n1: ['comments', `../comments${at + 1}.xml`] as const }),
      ...(drawing === undefined ? {} : { d1: ['drawing', `../drawings/drawing${at + 1}.xml`] as const }),
    }
    return [
      ...(Object.keys(own).length > 0 ? [[`xl/worksheets/_rels/sheet${at + 1}.xml.rels`, relations(own)]] : []),
      ...(note === undefined ? [] : [[`xl/comments${at + 1}.xml`, note]]),
      ...(drawing === undefined
        ? []
        : [
            [`xl/drawings/drawing${at + 1}.xml`, drawing[0]],
            [`xl/drawings/_rels/drawing${at + 1}.xml.rels`, relations({ c1: ['chart', '../charts/chart1.xml'] })],
            ['xl/charts/chart1.xml', drawing[1]],
          ]),
    ]
  })
  return openXml('xl/workbook.xml', 'spreadsheetml.sheet', {
    'xl/workbook.xml': `<workbook xmlns:r="r">${from1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${ids.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({
      ...Object.fromEntries(names.map((_, at) => [`rId${at + 1}`, ['worksheet', `worksheets/sheet${at + 1}.xml`]])),
      ...{ styles: ['styles', 'styles.xml'], strings: ['sharedStrings', '/xl/sharedStrings.xml'] },
    }),
    'xl/styles.xml': `<styleSheet><numFmts>${own.join('')}</numFmts><fonts><font/><font><strike/></font></fonts><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst>${strings.map((text) => `<si>${text}</si>`).join('')}</sst>`,
    ...Object.fromEntries([...parts, ...beside]),
  })
}

/** A presentation of slides in XML, some with notes or a diagram. */
export function pptx(
  slides: readonly { readonly slide: string; readonly notes?: string; readonly diagram?: string }[],
): Buffer {
  const parts = slides.flatMap(({ slide, notes, diagram }, at) => {
    const no = at + 1
    const own = {
      ...(notes === undefined ? {} : { rId1: ['notesSlide', `../notesSlides/notes${no}.xml`] as const }),
      ...(diagram === undefined ? {} : { rId2: ['diagramData', `../diagrams/data${no}.xml`] as const }),
    }
    return [
      [`ppt/slides/slide${no}.xml`, slide],
      [`ppt/slides/_rels/slide${no}.xml.rels`, relations(own)],
      ...(notes === undefined ? [] : [[`ppt/notesSlides/notes${no}.xml`, notes]]),
      ...(diagram === undefined ? [] : [[`ppt/diagrams/data${no}.xml`, diagram]]),
    ]
  })
  // They are shown in the order of the list, which is not that of their numbers.
  const order = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at + 1}"/>`).reverse()
  return openXml('ppt/presentation.xml', 'presentationml.presentation', {
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${order.join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      Object.fromEntries(slides.map((_, at) => [`rId${at + 1}`, ['slide', `slides/slide${at + 1}.xml`]])),
    ),
    ...Object.fromEntries(parts),
  })
}

/** A document in the format of OpenDocument: `text`, `spreadsheet` or `presentation`. */
export function openDocument(type: string, body: string, manifest = '', styles = ''): Buffer {
  return zip({
    mimetype: `application/vnd.oasis.opendocument.${type}`,
    'content.xml': `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:presentation="p" xmlns:xlink="x" xmlns:style="s"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${type}>${body}</office:${type}></office:body></office:document-content>`,
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="m">${manifest}</manifest:manifest>`,
  })
}

/** A ZIP that says it holds a file of four gigabytes. */
export function zipBomb(): Uint8Array {
  const entry = Buffer.alloc(38)
  entry.write('PK\x03\x04', 0, 'latin1')
  entry.set([20, 0, 0, 0, 8, 0], 4)
  entry.writeUInt32LE(100, 18)
  entry.writeUInt32LE(0xffffffff, 22)
  entry.set([8, 0], 26)
  entry.write('bomb.txt', 30, 'latin1')
  return Buffer.concat([entry, Buffer.alloc(100)])
}
