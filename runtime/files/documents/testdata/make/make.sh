#!/bin/bash
# Makes the golden folder anew with programs of Debian 12 and libraries of npm:
#   make.sh OUT NODE_MODULES
# The tests need none of them. What comes out differs in times and ids, so look
# at each file and at what is read from it before you keep it.
set -e
here=$(cd "$(dirname "$0")" && pwd) out=$1 tmp=$(mktemp -d)
mkdir -p "$out"
office() { soffice -env:UserInstallation=file://$tmp/office --headless --convert-to "$@" >/dev/null; }
chrome() { chromium --headless --no-sandbox --disable-gpu --user-data-dir=$tmp/chrome "$@" 2>/dev/null; }

/usr/bin/python3 "$here/office.py" "$out"
cp "$here/node.mjs" "$2/../node.mjs" && node "$2/../node.mjs" "$out"

# PDF
(cd "$tmp" && cp "$here/report.html" annual-report.html && office pdf:writer_web_pdf_Export --outdir "$out" annual-report.html)
chrome --no-pdf-header-footer --print-to-pdf="$out/annual-report-chromium.pdf" "$here/report.html"
wkhtmltopdf -q "$here/report.html" "$out/annual-report-wkhtml.pdf"
weasyprint -q "$here/report.html" "$out/annual-report-weasy.pdf"
groff -t -ms -Tps "$here/letter.ms" | ps2pdf - "$out/letter-of-intent.pdf"
(cd "$tmp" && pdflatex -interaction=batchmode "$here/columns.tex" >/dev/null && cp columns.pdf "$out/discussion.pdf")
(cd "$tmp" && office pdf --outdir "$out" "$out/management.docx" && mv "$out/management.pdf" "$out/management-writer.pdf")
pango-view --no-display --font="DejaVu Sans 11" --output="$out/invoice.pdf" --text=$'Rechnung 2024-117\nMüller & Söhne\n\nBetrag: 12.400,00 €\nFällig am 31.01.2025'
ssconvert "$out/budget.xlsx" "$out/budget-gnumeric.pdf" >/dev/null 2>&1
convert -size 700x300 xc:white -font DejaVu-Sans -pointsize 28 -draw 'text 40,80 "Lease agreement, signed copy"' -draw 'text 40,140 "Rent: 4,200 EUR a month"' -quality 60 "$tmp/scan.jpg"
/usr/bin/python3 -c "import sys; from reportlab.pdfgen import canvas; c = canvas.Canvas(sys.argv[2], pagesize=(350, 150)); c.drawImage(sys.argv[1], 0, 0, 350, 150); c.save()" "$tmp/scan.jpg" "$out/lease-scan.pdf"
qpdf --object-streams=generate --linearize "$out/annual-report.pdf" "$out/annual-report-linear.pdf"
qpdf --encrypt "" owner 256 -- "$out/kpis.pdf" "$out/owner-password.pdf"
qpdf --encrypt secret owner 256 -- "$out/invoice.pdf" "$out/user-password.pdf"
qpdf --empty --pages "$out/invoice.pdf" "$out/lease-scan.pdf" -- "$out/partly-scanned.pdf"
/usr/bin/python3 "$here/office.py" "$out" locked # the mail has the locked PDF now

# Workbooks, documents and slides
(cd "$tmp" && office xlsx --outdir "$tmp" "$out/pnl.xlsx" && mv pnl.xlsx "$out/pnl-libreoffice.xlsx")
ssconvert "$out/cap-table.xlsx" "$out/cap-table-gnumeric.xlsx" >/dev/null 2>&1
(soffice -env:UserInstallation=file://$tmp/office --headless "--accept=pipe,name=golden;urp;" & /usr/bin/python3 "$here/encrypt.py" "$out/budget.xlsx" "$out/budget-locked.xlsx"; wait)
pandoc "$here/dd.md" -o "$out/due-diligence.docx"
pandoc "$here/deck.md" -o "$out/strategy.pptx"
(cd "$tmp" && office docx:"MS Word 2007 XML" --outdir "$tmp" annual-report.html && mv annual-report.docx "$out/annual-report.docx")
(cd "$tmp" && office pptx --outdir "$tmp" "$out/management.pptx" && mv management.pptx "$out/management-impress.pptx")

# Tables, mails, texts and pages
(cd "$tmp" && office csv:"Text - txt - csv (StarCalc)":59,34,76,1 --outdir "$tmp" "$out/pnl-libreoffice.xlsx" && mv pnl-libreoffice.csv "$out/pnl.csv")
ssconvert "$out/cap-table.xlsx" "$out/cap-table.csv" >/dev/null 2>&1
swaks --to team@buyer.example --from cfo@target.example --header "Subject: Covenants" --header "Date: Mon, 06 Jan 2025 12:00:00 +0000" --body $'Net debt to EBITDA is 1.8.\n\nThe covenant is 3.0.' --attach-type text/csv --attach-name ratios.csv --attach @"$out/cap-table.csv" --dump-mail > "$out/covenants.eml"
groff -t -ms -Thtml "$here/letter.ms" > "$out/letter.html" 2>/dev/null
pandoc -s "$here/dd.md" -o "$out/due-diligence.html"
chrome --dump-dom "$here/report.html" > "$out/annual-report.html"
rm -rf "$tmp"
