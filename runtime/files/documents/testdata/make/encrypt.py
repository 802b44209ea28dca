"""Has LibreOffice keep a workbook under a password: encrypt.py IN OUT, with soffice listening on a pipe."""
import sys, time, uno
from com.sun.star.beans import NamedValue, PropertyValue
def prop(n, v):
    p = PropertyValue(); p.Name, p.Value = n, v; return p
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
for _ in range(60):
    try:
        ctx = resolver.resolve("uno:pipe,name=golden;urp;StarOffice.ComponentContext"); break
    except Exception:
        time.sleep(1)
desktop = ctx.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", ctx)
doc = desktop.loadComponentFromURL("file://" + sys.argv[1], "_blank", 0, (prop("Hidden", True),))
doc.storeToURL("file://" + sys.argv[2], (prop("FilterName", "Calc MS Excel 2007 XML"), prop("EncryptionData", uno.Any("[]com.sun.star.beans.NamedValue", (NamedValue("CryptoType", "Standard"), NamedValue("OOXPassword", "secret"))))))
doc.close(True)
desktop.terminate()
