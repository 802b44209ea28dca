// Files by libraries of npm: exceljs, docx, pptxgenjs, pdfkit, pdf-lib, nodemailer.
import fs from 'node:fs'
import ExcelJS from 'exceljs'
import * as docx from 'docx'
import pptxgen from 'pptxgenjs'
import PDFKit from 'pdfkit'
import { PDFDocument, StandardFonts, degrees } from 'pdf-lib'
import nodemailer from 'nodemailer'
const out = process.argv[2] + '/'

const wb = new ExcelJS.Workbook()
wb.creator = 'Legal'; wb.title = 'Cap table'
const ws = wb.addWorksheet('Cap Table')
ws.columns = [{ header: 'Holder', key: 'h', width: 20 }, { header: 'Shares', key: 's' }, { header: 'Stake', key: 'p' }, { header: 'Since', key: 'd' }]
ws.addRows([['Jane Smith', 15000, null, new Date(Date.UTC(2019, 3, 1))], ['Founders Holding', 60000, null, new Date(Date.UTC(2004, 0, 15))], ['Beta Fund II', 25000, null, new Date(Date.UTC(2020, 11, 31))]])
ws.getCell('B5').value = { formula: 'SUM(B2:B4)', result: 100000 }
ws.fillFormula('C2:C4', 'B2/$B$5', [0.15, 0.6, 0.25])
ws.getColumn('C').numFmt = '0 %'; ws.getColumn('D').numFmt = 'dd/mm/yyyy'
ws.getCell('A7').value = { richText: [{ text: 'Pool: ' }, { font: { bold: true }, text: '5 % reserved' }] }
wb.addWorksheet('Old', { state: 'veryHidden' }).getCell('A1').value = 'superseded by version 2'
await wb.xlsx.writeFile(out + 'cap-table.xlsx')

const p = (text, o = {}) => new docx.Paragraph({ text, ...o })
const cell = (text, o = {}) => new docx.TableCell({ children: [p(text)], ...o })
const row = (...cells) => new docx.TableRow({ children: cells })
fs.writeFileSync(out + 'minutes.docx', await docx.Packer.toBuffer(new docx.Document({
  title: 'Minutes', creator: 'Secretary',
  footnotes: { 1: { children: [p('Resolution 2025/03.')] } },
  sections: [{ children: [
    p('Minutes of the shareholders', { heading: docx.HeadingLevel.HEADING_1 }),
    new docx.Paragraph({ children: [new docx.TextRun('The sale of the site in '), new docx.TextRun({ text: 'Łódź', bold: true }), new docx.TextRun(' was approved.'), new docx.FootnoteReferenceRun(1)] }),
    p('Votes', { heading: docx.HeadingLevel.HEADING_2 }),
    new docx.Table({ rows: [row(cell('Holder'), cell('For'), cell('Against')), row(cell('Founders Holding', { rowSpan: 2 }), cell('60,000'), cell('0')), row(cell('proxy'), cell('0')), row(cell('Result', { columnSpan: 2 }), cell('carried'))] }),
    new docx.Paragraph({ children: [new docx.InsertedTextRun({ text: 'Added later. ', id: 1, author: 'JD', date: '2025-01-01T00:00:00Z' }), new docx.DeletedTextRun({ text: 'Struck out.', id: 2, author: 'JD', date: '2025-01-01T00:00:00Z' })] }),
  ] }] })))

const deck = new pptxgen()
deck.title = 'Management presentation'; deck.author = 'CEO'
deck.defineSlideMaster({ title: 'M', objects: [{ placeholder: { options: { name: 't', type: 'title', x: 0.5, y: 0.2, w: 9, h: 0.8 }, text: '' } }] })
let s = deck.addSlide({ masterName: 'M' })
s.addText('Our team', { placeholder: 't' })
s.addText([{ text: 'Jane Smith, CEO', options: { breakLine: true } }, { text: 'John Doe, CFO' }], { x: 0.5, y: 1.2, w: 9, h: 1 })
s.addNotes('The CTO left in May.')
s = deck.addSlide({ masterName: 'M' })
s.addText('Forecast and actuals', { placeholder: 't' })
s.addTable([['€m', 'Forecast', 'Actual'], ['Revenue', '5.0', '5.2'], [{ text: 'Margin 42 %', options: { colspan: 2 } }, 'audited']], { x: 0.5, y: 1.2, w: 9 })
s = deck.addSlide({ masterName: 'M' })
s.hidden = true
s.addText('Backup: the Danish contract', { placeholder: 't' })
await deck.writeFile({ fileName: out + 'management.pptx' })

await new Promise(done => {
  const doc = new PDFKit({ size: 'A4', info: { Title: 'Forecast 2025', Author: 'Controlling', CreationDate: new Date(0) } })
  doc.pipe(fs.createWriteStream(out + 'forecast.pdf')).on('finish', done)
  doc.fontSize(18).text('Forecast 2025').moveDown().fontSize(11)
  doc.text('Umsatz 5,8 Mio. € – EBITDA 1,4 Mio. €. Die Prognose ist nicht geprüft und beruht auf dem Auftragsbestand zum Jahresende.')
  doc.addPage({ size: 'A4', layout: 'landscape' }).font('Times-Roman').text('Assumption: growth of 12 %, no price increase.', 100, 100)
  doc.text('Sensitivity: ±1 % of growth is ±€52,000.', 100, 130).end()
})

const pdf = await PDFDocument.create()
pdf.setTitle('Cap table'); pdf.setAuthor('Legal')
const font = await pdf.embedFont(StandardFonts.Courier)
let page = pdf.addPage([595, 842])
;['Holder              Shares   Stake', 'Jane Smith          15,000    15 %', 'Founders Holding    60,000    60 %', 'Beta Fund II        25,000    25 %'].forEach((t, i) => page.drawText(t, { x: 60, y: 760 - 14 * i, size: 10, font }))
page = pdf.addPage([595, 842]); page.setRotation(degrees(270))
page.drawText('Sealed copy, kept by the notary', { x: 300, y: 200, size: 12, font, rotate: degrees(90) })
fs.writeFileSync(out + 'cap-table.pdf', await pdf.save())

const mail = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
const sent = await mail.sendMail({
  from: 'Jörg Weiß <jw@target.example>', to: 'jane@advisor.example', subject: 'Data room: cap table and forecast – Nachtrag', date: new Date('2025-02-03T08:00:00Z'), messageId: '<1@target.example>',
  text: 'Dear Jane,\n\nplease find the cap table and the forecast attached.\nThe stake of Beta Fund II is 25 %.\n\nBest regards\nJörg',
  attachments: [{ filename: 'Cap Table (2).xlsx', path: out + 'cap-table.xlsx' }, { filename: 'forecast.pdf', path: out + 'forecast.pdf' }, { filename: 'logo.png', content: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==', encoding: 'base64', cid: 'logo' }],
})
fs.writeFileSync(out + 'data-room.eml', sent.message)
