#!/bin/sh
# Remakes every file and every list. Needs Debian's python3-{reportlab,openpyxl,xlsxwriter,docx,yaml}, weasyprint,
# wkhtmltopdf, groff, ghostscript, libreoffice (writer), poppler-utils, fonts-liberation, fonts-dejavu-core;
# and from npm: pdfkit, exceljs, docx, pptxgenjs (NODE_PATH tells where).
set -e
cd "$(dirname "$0")"
PY=/usr/bin/python3
$PY build.py
$PY dates.py
$PY truth.py
$PY evals.py
$PY questions.py
$PY check.py
$PY cases.py ../../eval.yaml
$PY cases.py ../../paraphrases.yaml ../paraphrases.yaml
