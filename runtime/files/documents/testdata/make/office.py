"""Files by the Python libraries of Debian: openpyxl, XlsxWriter, python-docx, ReportLab, and the standard library's email."""
import datetime as d, email.message, email.policy, sys
import docx, openpyxl, xlsxwriter
from docx.enum.section import WD_ORIENT
from openpyxl.comments import Comment
from openpyxl.styles import Font
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen import canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, PageBreak
from reportlab.lib.styles import getSampleStyleSheet
out = sys.argv[1] + "/"

# A profit and loss account: formulas, units in formats, a hidden sheet, row and column.
wb = openpyxl.Workbook()
ws = wb.active
ws.title = "P&L"
ws.append(["€m", "Q1 2024", "Q2 2024", "Q3 2024"])
ws.append(["Revenue", 4.5, 4.8, 5.2])
ws.append(["COGS", -2.5, -2.7, -3.0])
ws.append(["Gross profit"] + [f"={c}2+{c}3" for c in "BCD"])
ws.append(["Margin"] + [f"={c}4/{c}2" for c in "BCD"])
for row in ws["B2:D4"]:
    for c in row:
        c.number_format = '#,##0.0 "€m"'
for c in ws["B5:D5"][0]:
    c.number_format = "0.0%"
ws["A7"], ws["B7"] = "Closing date", d.date(2024, 9, 30)
ws["A8"], ws["B8"] = "Signed at", d.datetime(2024, 10, 2, 14, 30)
ws["B7"].number_format, ws["B8"].number_format = "dd.mm.yyyy", "yyyy-mm-dd hh:mm"
ws["A9"], ws["B9"] = "Date as text", "30.09.2024"
ws["A10"], ws["B10"] = "Reviewed", True
ws["A11"], ws["B11"] = "Hidden adjustment", 0.3
ws.row_dimensions[11].hidden = True
ws["F1"], ws["F2"] = "Draft", "do not circulate"
ws.column_dimensions["F"].hidden = True
ws["D2"].comment = Comment("before audit", "CFO")
ws.merge_cells("A13:D13")
ws["A13"] = "All figures are unaudited"
s = wb.create_sheet("Assumptions")
s.sheet_state = "hidden"
s.append(["Growth", 0.12])
s.append(["Reference", "='P&L'!D2*(1+B1)"])
wb.properties.creator, wb.properties.title = "Finance", "P&L 2024"
wb.save(out + "pnl.xlsx")

# A budget with the dates of 1904, values beside formulas, and cells that cover others.
wb = xlsxwriter.Workbook(out + "budget.xlsx", {"date_1904": True})
wb.set_properties({"title": "Budget 2025", "author": "Controlling"})
ws = wb.add_worksheet("Budget 2025")
head, date, money = wb.add_format({"bold": 1}), wb.add_format({"num_format": "d mmm yyyy"}), wb.add_format({"num_format": "#,##0 [$€-407]"})
ws.merge_range("A1:C2", "Budget 2025 (in thousands)", head)
ws.write_row("A3", ["Month", "Planned", "Actual"], head)
for i, (m, p, a) in enumerate([(1, 410, 402.5), (2, 420, 431.25), (3, 455, None)]):
    ws.write_datetime(3 + i, 0, d.datetime(2025, m, 28), date)
    ws.write_number(3 + i, 1, p, money)
    if a:
        ws.write_number(3 + i, 2, a, money)
ws.write("A7", "Total")
ws.write_formula("B7", "=SUM(B4:B6)", money, 1285)
ws.write_formula("C7", "=SUM(C4:C6)", money, 833.75)
ws.write_formula("B8", "=B7/0", None, "#DIV/0!")
ws.write_formula("B9", '=IF(B7>1000,"over","under")', None, "over")
ws.write_rich_string("A10", "partly ", head, "bold", " text")
wb.close()

# A memo: headings, a table with a merged cell, text that was deleted.
doc = docx.Document()
doc.core_properties.title, doc.core_properties.author = "Management team", "Jane Smith"
doc.core_properties.created = doc.core_properties.modified = d.datetime(2025, 1, 31, 9)
doc.add_heading("Management team", 0)
doc.add_paragraph("The company is led by two managing directors.")
doc.add_heading("Jane Smith, CEO", 1)
doc.add_paragraph("Joined 2019, previously VP at CompetitorCo. Owns 15 % of the shares.")
doc.add_heading("John Doe, CFO", 1)
doc.add_paragraph("Joined 2021. No equity stake.", style="List Bullet")
t = doc.add_table(rows=4, cols=3)
for r, line in enumerate([["Name", "Role", "Shares"], ["Jane Smith", "CEO", "15 %"], ["John Doe", "CFO", "–"], ["Total held by management", "", "15 %"]]):
    for c, v in enumerate(line):
        t.cell(r, c).text = v
t.cell(3, 0).merge(t.cell(3, 1))
doc.sections[0].header.paragraphs[0].text = "Draft – confidential"
doc.save(out + "management.docx")

# Key figures: a table, and a page that is turned.
st = getSampleStyleSheet()
def turned(c, _):
    c.setPageRotation(90)
SimpleDocTemplate(out + "kpis.pdf", pagesize=A4, title="Key figures", author="Controlling").build([
    Paragraph("Key figures", st["Title"]), Paragraph("In € thousand, as of 30 September 2024. Prepared for the supervisory board.", st["Normal"]),
    Table([["", "2022", "2023", "2024"], ["Order intake", "4,010", "4,750", "5,480"], ["Order backlog", "1,200", "1,310", "1,590"], ["Employees", "41", "43", "47"]], hAlign="LEFT", colWidths=[120, 70, 70, 70]),
    PageBreak(), Paragraph("This page is turned by a quarter.", st["Heading2"]), Paragraph("Backlog covers four months of work.", st["Normal"])],
    onLaterPages=turned)
c = canvas.Canvas(out + "margin-note.pdf", pagesize=A4)
c.setTitle("Site plan")
c.setFont("Helvetica", 11)
c.drawString(72, 760, "Site plan of the Köln plant, 4,200 m², freehold")
c.saveState(); c.translate(40, 300); c.rotate(90); c.drawString(0, 0, "Confidential until signing"); c.restoreState()
c.save()

# A mail within a mail, with an attachment and a name in another encoding.
inner = email.message.EmailMessage()
inner["From"], inner["To"], inner["Subject"], inner["Date"] = "CFO <cfo@target.example>", "jane@advisor.example", "Q3 Zahlen: Umsatz 5,2 Mio. €", "Wed, 02 Oct 2024 09:15:00 +0200"
inner.set_content("Hallo Jane,\n\nanbei die Zahlen für Q3. Der Umsatz beträgt 5,2 Mio. €.\n\nGrüße\nJörg\n", charset="iso-8859-15", cte="quoted-printable")
inner.add_attachment("konto;soll;haben\n4400;0;5200,00\n8400;12,50;0\n".encode("cp1252"), maintype="text", subtype="csv", filename="Übersicht.csv")
outer = email.message.EmailMessage()
outer["From"], outer["To"], outer["Cc"], outer["Subject"], outer["Date"] = "Jane <jane@advisor.example>", "team@buyer.example", "Max Müller <max@buyer.example>", "Fwd: Q3 figures", "Wed, 02 Oct 2024 10:00:00 +0200"
outer.set_content("Please see below.\nThe figures are unaudited.\n")
outer.add_alternative("<p>Please see below.</p><p>The figures are <b>unaudited</b>.</p>", subtype="html")
outer.add_attachment(inner)
outer.add_attachment(open(out + "user-password.pdf", "rb").read() if len(sys.argv) > 2 else b"", maintype="application", subtype="pdf", filename="locked.pdf")
open(out + "forwarded.eml", "wb").write(outer.as_bytes(policy=email.policy.SMTP))
only = email.message.EmailMessage()
only["From"], only["Subject"], only["Date"] = "bank@example.com", "Kontostand", "Tue, 31 Dec 2024 18:00:00 +0100"
only.set_content("<html><head><meta charset=\"iso-8859-15\"></head><body><h1>Kontostand</h1><table><tr><th>Konto</th><th>Saldo</th></tr><tr><td>12345</td><td>1.900.000,00 €</td></tr></table></body></html>", subtype="html", charset="iso-8859-15", cte="base64")
open(out + "statement.eml", "wb").write(only.as_bytes(policy=email.policy.SMTP))

# Texts in the encodings that come in.
index = "Nr;Ordner;Datei;Größe;Datum\n1;1.2 Finanzen;\"Abschluss; geprüft.pdf\";1.204;03.03.2025\n2;1.3 Verträge;Mietvertrag Köln.pdf;88;01.01.2024\n3;2.1 Personal;Arbeitsverträge.zip;12.400;15.02.2025\n"
open(out + "index-1252.csv", "w", encoding="cp1252", newline="").write(index.replace("\n", "\r\n"))
open(out + "index-850.csv", "w", encoding="cp850", newline="").write(index.replace("\n", "\r\n"))
open(out + "trial-balance.tsv", "w", encoding="utf-16", newline="").write("Account\tName\tDebit\tCredit\r\n1200\tBank\t1,900.00\t\r\n4400\tErlöse 19 %\t\t5,200.00\r\n")
open(out + "minutes.txt", "w").write("Minutes of the board, 14 January 2025\n\n1. The budget for 2025 was approved: revenue of €5.8m.\n2. Mr Doe reported on the refinancing.\n\n   The term sheet of Bank Łódź is expected in March.\n")
open(out + "note-1252.txt", "w", encoding="cp1252", newline="").write("Gespräch mit Herrn Müller\r\nErlöse „bereinigt“: 5,2 Mio. € – ohne Sondereffekte\r\n")
open(out + "note-mac.txt", "w", encoding="mac_roman", newline="").write("Größe der Fläche\rKöln: 4.200 qm\rMiete läuft bis März\r")
open(out + "note-utf16be.txt", "wb").write("\ufeffEarn-out\nup to €4m over three years\n".encode("utf-16-be"))
